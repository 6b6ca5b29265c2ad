# SPDX-License-Identifier: Apache-2.0
"""What may go wrong between proxies and a server, one thing after the other, as the dice fall."""

import signal
import time

from harness import ValueClient

GARBAGE = (b"hello\r\n", b"$-2\r\n", b"$999999999999\r\n")


def fault_at_random(theatre):
    theatre.dice.choice(FAULTS)(theatre)
    time.sleep(0.2)  # the pause behind a fault: some of them do their work in it


def hold_pushes(theatre):
    """For less than the bound; then all is told at once."""
    theatre.relay.hold()
    time.sleep(theatre.dice.uniform(0.05, 0.6))  # the fault lasts this long
    theatre.relay.go_on()


def lose_pushes(theatre):
    theatre.relay.hold()
    time.sleep(theatre.dice.uniform(0.05, 0.6))  # the fault lasts this long
    theatre.relay.lose()


def garble(theatre):
    theatre.relay.tell(theatre.dice.choice(GARBAGE), theatre.relay.trackers)


def cut_everybody(theatre):
    theatre.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def stop_for_a_while(process, dice):
    process.freeze()
    time.sleep(dice.uniform(0.05, 1.5))  # the fault lasts this long
    process.signal(signal.SIGCONT)


def stop_the_server(theatre):
    stop_for_a_while(theatre.server.process, theatre.dice)


def stop_one_proxy(theatre):
    stop_for_a_while(theatre.dice.choice(theatre.proxies).process, theatre.dice)


def pause_everybody(theatre):
    theatre.ask("CLIENT", "PAUSE", theatre.dice.randrange(50, 1500), "ALL")


def forget_names(theatre):
    """The tracking table has room for one."""
    theatre.ask("CONFIG", "SET", "tracking-table-max-keys", "1")
    time.sleep(0.3)  # the fault lasts this long
    theatre.ask("CONFIG", "SET", "tracking-table-max-keys", "1000000")


def flush_another_database(theatre):
    with ValueClient(theatre.server.port) as client:
        client("SELECT", "9")
        client("FLUSHDB")


FAULTS = (hold_pushes, lose_pushes, garble, cut_everybody, stop_the_server, stop_one_proxy,
          pause_everybody, forget_names, flush_another_database)  # fmt: skip
