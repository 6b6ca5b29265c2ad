# SPDX-License-Identifier: Apache-2.0
"""logins.py URL: a rate limit and statistics that all processes share."""

import datetime
import sys
import time

import heatsink

url = sys.argv[1]
# Per address: one login per minute, and five at once. If the server does not answer, refuse.
logins = heatsink.RateLimiter(
    "1/60s",
    name="logins",
    burst=5,
    on_failure="refuse",
    patience=datetime.timedelta(seconds=5),
    server_url=url,
)
statistics = heatsink.WindowStats(server_url=url)

with logins, statistics:
    allowed = 0
    for _ in range(10):
        begin = time.perf_counter_ns()
        verdict = logins.try_acquire("192.0.2.7")
        statistics.add("decision:us", (time.perf_counter_ns() - begin) // 1000)
        allowed += verdict.allowed
    print(allowed, "of 10 logins are allowed")
    if verdict.retry_after:  # None: never; nothing: it was allowed
        print(f"next one in {verdict.retry_after.total_seconds():.0f} s")

    statistics.flush()
    reading = statistics.read("decision:us")  # of all processes, over the last minute
    if reading:
        print(f"{reading.count} decisions, the slowest took {reading.max} us")
