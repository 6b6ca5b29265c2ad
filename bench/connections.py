#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of each of many clients: connected, after some commands, after a burst.

For RESP2, RESP3 and TLS, one proxy each. The figures are the growth of the proxy's memory in RAM
over the number of clients; the kernel's memory for sockets is not the proxy's and not counted. One
more client goes on all the time, and its longest wait is shown: a trim must not hold it up.
"""

import argparse
import contextlib
import os
import pathlib
import ssl
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
SETTLED_S = 25  # two trims
PAUSE_S = 0.002  # of the client that goes on


def burst(crowd, encode):
    crowd.each(encode("GET", "kilo") * 100, 100 * len(b"$1000\r\n\r\n") + 100_000)
    crowd.each(encode("GET", "big"), len(b"$60000\r\n\r\n") + 60_000)
    crowd.each(encode("SET", "in", b"y" * 60_000) * 3, 3 * len(b"+OK\r\n"))
    crowd.each(encode("EXISTS", *range(3000)), len(b":0\r\n"))


def measure(harness, redis, kind, options, wrap, clients):
    from harness.asking import Asking  # pylint: disable=import-outside-toplevel
    from harness.crowd import Crowd  # pylint: disable=import-outside-toplevel

    proxy = harness.Proxy(redis, {"proxy.maximum-clients": 2 * clients, **options})
    resp = 3 if kind == "RESP3" else 2
    ends = contextlib.ExitStack()
    try:
        with Crowd(proxy.port, 50, resp, wrap) as warm:
            burst(warm, harness.encode)
        time.sleep(SETTLED_S)
        ping = Asking(proxy.port, PAUSE_S) if not options else None
        before = proxy.process.rss_bytes()
        if ping:
            ends.enter_context(ping)

        def row(when):
            peak = proxy.process.rss_bytes()
            if ping:
                ping.longest_s = 0.0
            time.sleep(SETTLED_S)
            rss = proxy.process.rss_bytes()
            parts = proxy.by_label("heatsink_memory_bytes", "component")
            own = (parts["clients"] + parts["tls"]) / clients
            wait = f"{ping.longest_s * 1000:.1f} ms" if ping else "-"
            print(f"| {kind} | {when} | {(peak - before) / clients:.0f} | "
                  f"{(rss - before) / clients:.0f} | {own:.0f} | {wait} |", flush=True)  # fmt: skip

        with Crowd(proxy.port, clients, resp, wrap) as crowd:
            crowd.ping()
            row("connected")
            crowd.each(harness.encode("SELECT", 0) + harness.encode("SET", "k", 1), 10)
            row("after some commands")
            burst(crowd, harness.encode)
            row("after a burst")
        row("all have left")
    finally:
        ends.close()
        proxy.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=9_500)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    os.environ["HEATSINK"] = str(options.programs.resolve() / "apps/heatsink/heatsink")
    import harness  # pylint: disable=import-outside-toplevel  # it reads HEATSINK once
    from harness.certificates import Authority  # pylint: disable=import-outside-toplevel

    redis = harness.Redis("--maxclients", "30000")
    try:
        with harness.ValueClient(redis.port) as server, tempfile.TemporaryDirectory() as folder:
            server("SET", "kilo", b"x" * 1000)
            server("SET", "big", b"y" * 60_000)
            authority = Authority(folder)
            cert, key = authority.sign("proxy")
            context = ssl.create_default_context(cafile=authority.cert)
            print("| clients | when | bytes each at first | settled | as counted | longest PING |")
            print("|---|---|---|---|---|---|")
            for kind in ("RESP2", "RESP3"):
                measure(harness, redis, kind, {}, lambda plain: plain, options.clients)
            measure(harness, redis, "TLS", {"proxy.tls-cert": cert, "proxy.tls-key": key},
                    lambda plain: context.wrap_socket(plain, server_hostname="localhost"),
                    options.clients // 4)  # fmt: skip
    finally:
        redis.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
