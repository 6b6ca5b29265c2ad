# SPDX-License-Identifier: Apache-2.0
"""What Redis's own test suite found in the proxy, each in a few bytes on the wire."""

import contextlib
import socket
import sys
import time

PORT = int(sys.argv[1])
PATIENCE_S = 60  # for what must happen, however slow the machine


class Wire:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT), PATIENCE_S)
        self.lines = self.socket.makefile("rb")

    def send(self, *arguments):
        self.socket.sendall(b"*%d\r\n" % len(arguments) + b"".join(
            b"$%d\r\n%s\r\n" % (len(a), a) for a in (a.encode() for a in arguments)))

    def line(self):
        return self.lines.readline().strip().decode()

    def ask(self, *arguments):
        self.send(*arguments)
        return self.line()


def expect(got, wanted):
    assert got.startswith(wanted), f"got {got!r}, wanted {wanted!r}"


@contextlib.contextmanager
def password(admin):
    expect(admin.ask("CONFIG", "SET", "requirepass", "secret"), "+OK")
    yield
    expect(admin.ask("CONFIG", "SET", "requirepass", ""), "+OK")


def password_set_while_running(admin):
    """The proxy's own connections stay logged in; a new client must be asked all the same."""
    with password(admin):
        wire = Wire()
        expect(wire.ask("GET", "key"), "-NOAUTH")
        expect(wire.ask("AUTH", "wrong"), "-WRONGPASS")
        expect(wire.ask("AUTH", "secret"), "+OK")
        expect(wire.ask("GET", "key"), "$-1")
        expect(admin.ask("AUTH", "wrong"), "-WRONGPASS")
        expect(admin.ask("AUTH", "secret"), "+OK")
    expect(Wire().ask("GET", "key"), "$-1")


def little_before_auth(admin):
    with password(admin):
        for head, error in ((b"*100\r\n", "-ERR Protocol error: unauthenticated multibulk length"),
                            (b"*1\r\n$100000000\r\n",
                             "-ERR Protocol error: unauthenticated bulk length")):
            wire = Wire()
            wire.socket.sendall(head)
            expect(wire.line(), error)
            assert wire.line() == "", "the connection was left open"


def auth_in_another_database(admin):
    expect(admin.ask("ACL", "SETUSER", "bob", "on", ">his", "~*", "+@all"), "+OK")
    wire = Wire()
    expect(wire.ask("SELECT", "9"), "+OK")
    expect(wire.ask("SET", "where", "nine"), "+OK")
    expect(wire.ask("AUTH", "bob", "wrong"), "-WRONGPASS")
    expect(wire.ask("AUTH", "bob", "his"), "+OK")
    expect(wire.ask("GET", "where"), "$4")
    expect(wire.line(), "nine")
    expect(admin.ask("ACL", "DELUSER", "bob"), ":1")
    with contextlib.suppress(ConnectionError):
        assert wire.ask("GET", "where") == "", "a user that is no more was served"


def replication(_admin):
    """Nothing of the proxy's own conversation gets into the stream."""
    wire = Wire()
    expect(wire.ask("SELECT", "9"), "+OK")
    wire.send("SYNC")
    line = wire.line()
    while line == "":  # the server says that it is still alive
        line = wire.line()
    expect(line, "$")


def deep_reply(_admin):
    wire = Wire()
    wire.send("EVAL", "local a = {}; local b = {a}; a[1] = b; return a", "0")
    line = wire.line()
    while line == "*1":
        line = wire.line()
    expect(line, "-ERR reached lua stack limit")
    expect(wire.ask("PING"), "+PONG")


def busy_script(admin):
    """The others hear BUSY at once, and can end it, from any database."""
    expect(admin.ask("CONFIG", "SET", "busy-reply-threshold", "10"), "+OK")
    runner, other = Wire(), Wire()
    expect(other.ask("SELECT", "9"), "+OK")
    expect(other.ask("GET", "nothing"), "$-1")
    runner.send("EVAL", "while true do end", "0")
    started = time.monotonic()
    while not other.ask("GET", "nothing").startswith("-BUSY"):
        assert time.monotonic() - started < PATIENCE_S, "nobody said BUSY"
    expect(other.ask("SCRIPT", "KILL"), "+OK")
    expect(runner.line(), "-ERR Script killed by user")
    expect(Wire().ask("GET", "nothing"), "$-1")


def restart(_admin):
    """Who has state on the server sees it go, as without a proxy."""
    subscriber = Wire()
    expect(subscriber.ask("SUBSCRIBE", "news"), "*3")
    print("RESTART SERVER", flush=True)
    sys.stdin.readline()
    while subscriber.line() != "":
        pass


CONTROL = Wire()
for step in (password_set_while_running, little_before_auth, auth_in_another_database, replication,
             deep_reply, busy_script, restart):
    step(CONTROL)
    print("ok", step.__name__, flush=True)
