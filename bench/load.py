# SPDX-License-Identifier: Apache-2.0
"""redis-benchmark as a function: one command, one figure of throughput and latency."""

import csv
import dataclasses
import io
import os
import subprocess

from processes import BenchError

CONNECTIONS = 50
# redis-benchmark puts a number of twelve digits where the command has this.
RANDOM = "__rand_int__"


@dataclasses.dataclass(frozen=True)
class Measured:
    requests: int
    rps: float
    p99_ms: float


def run_load(
    port,
    command,
    requests,
    pipeline=1,
    random_keys=0,
    threads=1,
    cores=None,
    timeout_s=120,
    connections=CONNECTIONS,
    flags=(),
):
    """Sends `command` `requests` times over so many connections, `pipeline` at a time.

    `flags`: more of redis-benchmark's own, such as --tls.
    """
    arguments = [
        "redis-benchmark",
        "-p",
        port,
        "-c",
        connections,
        "-n",
        requests,
        "-P",
        pipeline,
        "--csv",
        *flags,
    ]
    if random_keys:
        arguments += ["-r", random_keys]
    if threads > 1:
        arguments += ["--threads", threads]
    pin = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    try:
        done = subprocess.run(
            [str(argument) for argument in arguments + command],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            preexec_fn=pin,
        )
    except FileNotFoundError as error:
        raise BenchError("no program redis-benchmark: install Debian's redis-tools") from error
    except subprocess.TimeoutExpired as error:
        raise BenchError(
            f"port {port} did not answer {requests} requests within {timeout_s} s"
        ) from error
    rows = list(csv.DictReader(io.StringIO(done.stdout[max(done.stdout.find('"test"'), 0) :])))
    if done.returncode != 0 or len(rows) != 1 or "rps" not in rows[0]:
        raise BenchError(
            f"redis-benchmark failed on port {port}: {(done.stderr or done.stdout)[-300:].strip()}"
        )
    return Measured(requests, float(rows[0]["rps"]), float(rows[0]["p99_latency_ms"]))


def requests_for(port, command, seconds, **how):
    """How many requests take about `seconds` here, by short runs, each longer than the last."""
    requests = 2000
    while True:
        rps = run_load(port, command, requests, **how).rps
        if requests >= rps * seconds / 10:
            return max(int(rps * seconds), 1000)
        requests *= 5
