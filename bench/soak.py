#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays an hour's worth of changes in minutes, and fails if a component's memory goes on growing.

Two proxies, one with TLS, in front of one server: clients that come and go, hot keys that change
every second, pipelines, errors, values of 2 MB, transactions, subscribers, blocking reads that are
given up, and clients that leave in the middle. Every two seconds the script reads
heatsink_memory_bytes. A line is fitted to each component's last two thirds; growth along it of more
than --growth-max names the component and fails.
"""

import argparse
import os
import pathlib
import random
import ssl
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
PAUSE_S = 2
MEBI = 1 << 20


class Player(threading.Thread):
    """Plays one kind of client over and over, each with a new connection, until told to stop."""

    def __init__(self, play, connect):
        super().__init__(daemon=True)
        self.play_one, self.connect = play, connect
        self.running, self.rounds, self.random = True, 0, random.Random(play.__name__)

    def run(self):
        while self.running:
            try:
                with self.connect() as client:
                    self.play_one(client, self.random, self.rounds)
            except OSError:
                pass  # the proxy closed it: some players ask for that
            self.rounds += 1


def hot(client, draw, _round):
    key = f"hot:{int(time.monotonic())}"
    client.ask("SET", key, "v" * draw.randrange(1000))
    for _ in range(100):
        for _ in range(50):
            client.send("GET", key)
        client.read_many(50)


def churn(client, draw, number):
    client.ask("SET", f"key:{number % 100_000}", "v" * draw.randrange(2000))
    client.ask("GET", f"key:{draw.randrange(100_000)}")


def errors(client, draw, number):
    client.ask("NONSENSE", number)
    client.ask("LPUSH", "hot:string", "x")
    client.ask("SET", "hot:string", "x")
    client.send_raw(draw.choice([b"*1\r\n$-5\r\n", b"*3\r\n$3\r\nSET\r\n$1\r\n", b"\x00\xff\r\n"]))


def big(client, draw, _round):
    client.ask("SET", "big", b"x" * draw.randrange(2 * MEBI))
    client.ask("GET", "big")
    client.send("GET", "big")  # and leaves without reading


def transactions(client, draw, number):
    client.ask("WATCH", "tx")
    client.ask("MULTI")
    for i in range(draw.randrange(50)):
        client.ask("SET", f"tx:{number}:{i}", "v", "EX", 5)
    client.ask(draw.choice(["EXEC", "DISCARD"]))


def subscribers(client, draw, number):
    client.send("SUBSCRIBE", *(f"channel:{number}:{i}" for i in range(100)))
    client.read_many(100)
    client.send("PUBLISH", "x", "not in RESP2")
    client.send("UNSUBSCRIBE", *(f"channel:{number}:{i}" for i in range(draw.randrange(1, 100))))
    client.read()


def blocked(client, draw, number):
    client.send("BLPOP", f"nothing:{number}", draw.choice(["0", "0.05"]))
    time.sleep(0.01)  # lets the command arrive before the client leaves


def scan(client, draw, number):
    client.send("MGET", *(f"key:{draw.randrange(100_000)}" for _ in range(500)))
    client.read()
    client.ask("CLIENT", "SETNAME", f"name-{number}")


PLAYS = (hot, churn, errors, big, transactions, subscribers, blocked, scan)


def growth(samples):
    """(fitted growth over the last two thirds, mean) of one component, in bytes."""
    kept = samples[len(samples) // 3 :]
    count = len(kept)
    middle, mean = (count - 1) / 2, sum(kept) / count
    spread = sum((i - middle) ** 2 for i in range(count))
    slope = sum((i - middle) * value for i, value in enumerate(kept)) / spread
    return slope * (count - 1), mean


def judge(name, history, limit):
    """Prints a row per component; returns the names of those that grew."""
    grown = []
    for component in history[0]:
        grew, mean = growth([sample[component] for sample in history])
        is_too_much = grew > max(limit, mean / 10)
        if is_too_much:
            grown.append(f"{name}: {component}")
        print(f"| {name} | {component} | {mean / 1e6:.2f} MB | {grew / 1e6:+.2f} MB |"
              f"{' grows' if is_too_much else ''}")  # fmt: skip
    sums = [sum(sample.values()) for sample in history]
    share = max(sample["other"] / total for sample, total in zip(history, sums))
    print(f"{name}: {share:.0%} of RAM at most is in no named component")
    return grown


def soak(harness, options, folder, stack):
    from harness.certificates import Authority  # pylint: disable=import-outside-toplevel

    redis = harness.Redis("--maxmemory", "200mb", "--maxmemory-policy", "allkeys-lru")
    stack.append(redis.stop)
    authority = Authority(folder)
    cert, key = authority.sign("proxy")
    context = ssl.create_default_context(cafile=authority.cert)
    common = {"log.file": f"{folder}/log", "detection.window": "2s"}
    plain = harness.Proxy(redis, common, ["match=hot:*,limit.rate=100000/s"])
    stack.append(plain.stop)
    tls = harness.Proxy(redis, common | {"proxy.tls-cert": cert, "proxy.tls-key": key})
    stack.append(tls.stop)

    def by_tls():
        import socket  # pylint: disable=import-outside-toplevel

        connected = socket.create_connection(("127.0.0.1", tls.port))
        wrapped = context.wrap_socket(connected, server_hostname="localhost")
        return harness.RawClient(connected=wrapped)

    players = [Player(play, connect) for play in PLAYS
               for connect in (lambda: harness.RawClient(plain.port), by_tls)]  # fmt: skip
    for player in players:
        player.start()
    history, end = {"plain": [], "tls": []}, time.monotonic() + options.minutes * 60
    while time.monotonic() < end:
        time.sleep(PAUSE_S)
        for name, proxy in (("plain", plain), ("tls", tls)):
            history[name].append(proxy.by_label("heatsink_memory_bytes", "component"))
    for player in players:
        player.running = False
    for player in players:
        player.join(harness.PATIENCE_S)
    commands = sum(proxy.metric("heatsink_commands_total") for proxy in (plain, tls))
    print(f"{commands:.0f} commands, {sum(player.rounds for player in players)} connections")
    grown = []
    for name, samples in history.items():
        grown += judge(name, samples, options.growth_max * MEBI)
    return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--growth-max", type=float, default=2,
                        help="MiB along the fitted line, or a tenth of the component")  # fmt: skip
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    os.environ["HEATSINK"] = str(options.programs.resolve() / "apps/heatsink/heatsink")
    import harness  # pylint: disable=import-outside-toplevel  # it reads HEATSINK once

    stack = []
    try:
        with tempfile.TemporaryDirectory(prefix="heatsink-bench-") as folder:
            grown = soak(harness, options, folder, stack)
    finally:
        while stack:
            stack.pop()()
    return f"soak: these grow: {', '.join(grown)}" if grown else 0


if __name__ == "__main__":
    sys.exit(main())
