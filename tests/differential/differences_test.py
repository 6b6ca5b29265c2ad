# SPDX-License-Identifier: Apache-2.0
"""That a difference is found: rules forgive what they say and no more, and a proxy that lies is
caught, by its replies or by what it leaves in the server."""

import random
import unittest

import arguments
import generate
import rules
from grammar import Command, Template
from harness import Redis, need_programs
from pair import Difference, Pair
from session import Session, share_out
from shrink import fewest
from step import Step, parse

MAP = b"%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n:2\r\n"
TURNED_MAP = b"%2\r\n$1\r\nb\r\n:2\r\n$1\r\na\r\n:1\r\n"


class Rules(unittest.TestCase):
    def test_each_forgives_what_it_says(self):
        for rule, one, other in (
            ("numbers", b"*2\r\n:17\r\n$2\r\n33\r\n", b"*2\r\n:-9\r\n$3\r\n444\r\n"),
            ("kind", b"$1\r\na\r\n", b"$2\r\nbc\r\n"),
            ("who", b"$20\r\nid=7 name=a lib-ver=1\r\n", b"$20\r\nid=8 name=a lib-ver=1\r\n"),
            ("size", b"*1\r\n$1\r\na\r\n", b"*1\r\n$1\r\nb\r\n"),
            ("any_order", b"*2\r\n:1\r\n:2\r\n", b"*2\r\n:2\r\n:1\r\n"),
            ("any_order", MAP, TURNED_MAP),
            ("any_order", b"*1\r\n~2\r\n:1\r\n:2\r\n", b"*1\r\n~2\r\n:2\r\n:1\r\n"),
            ("pairs", b"*4\r\n+a\r\n+1\r\n+b\r\n+2\r\n", b"*4\r\n+b\r\n+2\r\n+a\r\n+1\r\n"),
            ("lines", b"+a\r\n:1\r\n", b":1\r\n+a\r\n"),
        ):
            with self.subTest(rule=rule, one=one):
                self.assertTrue(rules.same(rule, one, other))
                self.assertFalse(rules.same("exact", one, other))

    def test_and_no_more(self):
        for rule, one, other in (
            ("exact", b"+OK\r\n", b"+ok\r\n"),
            ("numbers", b":1\r\n", b"+1\r\n"),
            ("numbers", b"-ERR 1\r\n", b"-ERR 2\r\n"),
            ("kind", b"$1\r\na\r\n", b"+a\r\n"),
            ("kind", b"-ERR a\r\n", b"-ERR b\r\n"),
            ("who", b"$9\r\nid=7 name=a\r\n", b"$9\r\nid=7 name=b\r\n"),
            ("size", b"*1\r\n$1\r\na\r\n", b"*0\r\n"),
            ("any_order", b"*2\r\n:1\r\n:2\r\n", b"*2\r\n:1\r\n:3\r\n"),
            ("any_order", MAP, MAP.replace(b":1", b":2", 1).replace(b"b\r\n:2", b"b\r\n:1")),
            ("pairs", b"*4\r\n+a\r\n+1\r\n+b\r\n+2\r\n", b"*4\r\n+a\r\n+2\r\n+b\r\n+1\r\n"),
            ("lines", b"+a\r\n:1\r\n", b":1\r\n:1\r\n"),
        ):
            with self.subTest(rule=rule, one=one):
                self.assertFalse(rules.same(rule, one, other))

    def test_exec_has_the_rules_of_its_commands(self):
        one, other = b"*2\r\n:1\r\n+a\r\n", b"*2\r\n:2\r\n+a\r\n"
        self.assertTrue(rules.same(["numbers", "exact"], one, other))
        self.assertFalse(rules.same(["exact", "numbers"], one, other))
        self.assertFalse(rules.same(["numbers"], one, other))


class Words(unittest.TestCase):
    def test_a_template_draws_what_it_says(self):
        template = Template("numbers x3: SET string value [NX|XX] <EX seconds|KEEPTTL> #field")
        self.assertEqual((template.rule, template.weight), ("numbers", 3))
        rng = random.Random(1)
        for _ in range(200):
            args = list(template.draw(rng).args)
            self.assertEqual(args.pop(0), b"SET")
            del args[:2]
            if args[0] in (b"NX", b"XX"):
                del args[0]
            if args.pop(0) == b"EX":
                self.assertIn(args.pop(0), [b"1000", b"5000", b"100000", b"0", b"-1"])
            self.assertEqual(int(args.pop(0)), len(args))

    def test_a_template_with_a_mistake_is_refused(self):
        for line in ("GET nokind", "GET [string", "GET string]", "nosuchrule: GET string"):
            with self.subTest(line=line), self.assertRaises(ValueError):
                Template(line)

    def test_a_run_is_a_function_of_its_seed(self):
        runs = [list(generate.Run(seed, {"get", "set"}).steps(600)) for seed in (5, 5, 6)]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_steps_stand_in_a_file_as_they_are(self):
        odd = (b"", b"a b", b'"', b"\\", b"'", arguments.BINARY, b"\xff", b"%")
        steps = [
            Step(2, (Command((b"GET", *odd), "numbers", frozenset({"alone"})),)),
            Step(0, (Command((b"PING",)), Command((b"ECHO", b"x"), "kind"))),
        ]
        self.assertEqual(parse(line for step in steps for line in step.lines()), steps)

    def test_replies_are_shared_out(self):
        commands = [Command((b"SUBSCRIBE", b"a", b"b")), Command((b"PING",))]
        session = Session()
        counts = [session.count(command) for command in commands]
        replies = [b"+1\r\n", b"+2\r\n", b"+3\r\n"]
        shared = share_out(commands, counts, replies, replies)
        self.assertEqual([mine for _, mine, _ in shared], [b"+1\r\n+2\r\n", b"+3\r\n"])

    def test_shrinking_keeps_what_matters(self):
        difference = Difference((b"GET",), "exact", b"", b"")

        def play(steps):
            if {3, 57} <= set(steps):
                raise difference

        self.assertEqual(fewest(play, list(range(60)), difference, float("inf")), [3, 57])


class Liar(unittest.TestCase):
    """In the place of the proxy there is a server whose data somebody else changes."""

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.servers = [Redis(), Redis()]
        for server in cls.servers:
            cls.addClassCleanup(server.stop)

    def setUp(self):
        self.pair = Pair(*self.servers, self.servers[1].port)
        self.addCleanup(self.pair.close)
        self.pair.start([2, 3])

    def play(self, *lines):
        for step in parse(lines):
            self.pair.play(step)

    def lie(self, *command):
        self.pair.through.admin.ask(*command)

    def test_without_a_lie_nothing_is_found(self):
        self.play("SET k v", "1> GET k", "1> %exact,alone BLPOP l 0", "RPUSH l 1", "QUIT", "GET k")
        self.pair.finish()
        self.assertEqual(self.pair.left(), [])

    def test_another_reply(self):
        self.play("SET k v")
        self.lie("SET", "k", "w")
        with self.assertRaises(Difference) as caught:
            self.play("1> GET k")
        self.assertEqual(caught.exception.command, (b"GET", b"k"))

    def test_another_reply_in_a_pipeline(self):
        self.lie("SET", "k", "w")
        with self.assertRaises(Difference) as caught:
            self.play("PING", "+ GET k", "+ PING")
        self.assertEqual(caught.exception.command, (b"GET", b"k"))

    def test_one_wakes_and_the_other_hears_something_else(self):
        self.play("1> %exact,alone BLPOP l 0")
        with self.assertRaises(Difference):
            self.lie("RPUSH", "l", "lie")
            self.play("RPUSH l 1")

    def test_a_word_too_many(self):
        self.play("SUBSCRIBE news")
        self.lie("PUBLISH", "news", "lie")
        with self.assertRaises(Difference):
            self.pair.finish()

    def test_other_data_at_the_end(self):
        self.play("SET k v", "SET l v")
        self.lie("SET", "k", "w")
        self.lie("EXPIRE", "l", "1000")
        self.pair.finish()
        left = "\n".join(self.pair.left())
        self.assertIn("b'k'", left)
        self.assertIn("b'l'", left)


if __name__ == "__main__":
    unittest.main()
