# SPDX-License-Identifier: Apache-2.0
"""`explain` and `top --once` with MONITOR under bursts: a hot key is named or left open."""

import concurrent.futures
import random
import re
import subprocess
import threading
import time
import unittest

from stage import PATIENT, top

from harness import HEATSINK, LONG, PATIENCE_S, SLOW, Redis, ValueClient, need_programs, until

HOT = "product:1000:price"
FOR_S = 12
RUNS = 50 if LONG else 1
# Of the automatic thresholds: 100/s, and 1 % of all. Well above, so that the truth is not in doubt.
CLEARLY_HOT = 1.3 * 100
AT_MOST = re.compile(r"at most ([\d.]+)(k?)/s")


class Bursts:
    """A context: clients that send bursts with pauses between them, and count what they sent."""

    def __init__(self, port, seed):
        draw = random.Random(seed)
        self.mix = {
            "clients": draw.choice([1, 3, 12]),
            "pipeline": draw.choice([1, 10, 100]),
            "burst_s": draw.choice([0.05, 0.2, 0.6]),
            "pause_s": draw.choice([0.2, 0.8, 2.0]),
            "part": draw.choice([0.3, 0.6, 0.9]),
        }
        self.done, self.lock, self.hot = threading.Event(), threading.Lock(), 0
        self.began = time.monotonic()
        self.threads = [
            threading.Thread(target=self.run, args=(port, seed * 100 + i), daemon=True)
            for i in range(self.mix["clients"])
        ]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join(PATIENCE_S)

    def rate(self):
        return self.hot / (time.monotonic() - self.began)

    def run(self, port, seed):
        draw, mix = random.Random(seed), self.mix
        with ValueClient(port) as client:
            while not self.done.is_set():
                ends = time.monotonic() + draw.expovariate(1 / mix["burst_s"])
                while time.monotonic() < ends and not self.done.is_set():
                    self.send(client, draw)
                    time.sleep(0.001)  # the shape of the load is the subject
                self.done.wait(draw.expovariate(1 / mix["pause_s"]))

    def send(self, client, draw):
        names = [
            HOT if draw.random() < self.mix["part"] else f"product:{draw.randrange(900)}:price"
            for _ in range(self.mix["pipeline"])
        ]
        client.pipeline([("GET", name) for name in names])
        with self.lock:
            self.hot += names.count(HOT)


def explain(port):
    return subprocess.run(
        [HEATSINK, "explain", HOT, f"redis://127.0.0.1:{port}", "--source", "monitor"]
        + ["--for", f"{FOR_S}s", *PATIENT],
        capture_output=True, text=True, timeout=(FOR_S + PATIENCE_S) * SLOW, check=False,
    )  # fmt: skip


class MonitorBursts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)

    def test_a_hot_key_is_never_denied(self):
        named = judged = 0
        for seed in range(1, RUNS + 1):
            with Bursts(self.redis.port, seed) as load, self.subTest(seed=seed, **load.mix):
                until(lambda: load.hot > 0, what="a burst")
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    explained = pool.submit(explain, self.redis.port)
                    listed = pool.submit(
                        top, self.redis.port, "--once", "--for", f"{FOR_S}s", *PATIENT
                    )
                    rate = self.checked(load, explained.result().stdout, listed.result().stdout)
                judged += rate > CLEARLY_HOT
                named += f" {HOT} " in listed.result().stdout
        print(f"{RUNS} runs, {judged} with a key that is clearly hot, {named} named by top")

    def checked(self, load, explained, listed):
        """The key's true rate, which neither answer contradicts."""
        rate = load.rate()
        said = f"true rate {rate:.0f}/s\n{explained}\n{listed}"
        if rate <= CLEARLY_HOT:
            return rate
        self.assertNotIn("nothing is hot", listed, said)
        self.assertNotRegex(explained, r"(?m)^state +(cold|not hot|not one of)", said)
        for number, kilo in AT_MOST.findall(explained.partition("\n\n")[0]):
            most = float(number) * (1000 if kilo else 1)
            self.assertGreater(most, 0.7 * rate, said)
        self.assertRegex(explained, r"(?m)^state +(hot|write-hot|not proven yet)", said)
        return rate


if __name__ == "__main__":
    unittest.main()
