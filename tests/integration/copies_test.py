# SPDX-License-Identifier: Apache-2.0
"""The list of the copies that save most, of a real proxy: keys that nothing else lists."""

import base64
import time
import unittest

from harness import PATIENCE_S, until
from stage import ProxyTest

HOSTILE = b"\x1b[2J\xff"
READS_PER_ROUND = 20


class BestCopies(ProxyTest):
    # No key is hot or warm. A sample of the hits for the audit would cost hits.
    PROXY_OPTIONS = {"detection.hot-qps": 1_000_000, "audit.sample-rate": "0%"}

    def best(self):
        rows = self.proxy.api("hotkeys")["copies"]["top"]
        return {base64.b64decode(row["name_base64"]): row for row in rows}

    def test_keys_that_are_not_hot_are_listed_with_what_they_save(self):
        server, client = self.to_server(), self.to_proxy()
        server.ask("SET", "page", "v" * 100)
        server.ask("HSET", HOSTILE, "field", "v")
        server.ask("SET", "changing", "v")

        def read():
            for _ in range(READS_PER_ROUND):
                client.ask("GET", "page")
                client.ask("STRLEN", "page")
            client.ask("HGETALL", HOSTILE)
            for _ in range(8):  # a fill costs a read or two: fewer reads would not pay
                client.ask("GET", "changing")
            server.ask("SET", "changing", "v")
            time.sleep(0.01)  # the rates are of some seconds, so the load need not be high
            best = self.best()
            return best if {b"page", HOSTILE, b"changing"} <= set(best) else None

        best = until(read, PATIENCE_S, "the list of three keys")
        # More rounds, so that rates of the first moments do not matter.
        for _ in range(10):
            best = read() or best
        page, hostile, changing = best[b"page"], best[HOSTILE], best[b"changing"]
        self.assertEqual(self.proxy.api("hotkeys")["keys"], [])
        self.assertEqual(list(best)[0], b"page")
        self.assertEqual(sorted(page["commands"]), ["GET", "STRLEN"])
        self.assertGreater(page["bytes"], 100)
        self.assertGreater(page["hits_rate"], 10 * hostile["hits_rate"])
        self.assertLess(page["hits_rate_error"], page["hits_rate"] / 2)
        self.assertLessEqual(page["saved_rate"], page["hits_rate"])
        self.assertGreater(page["server_cpu"], 0)
        self.assertEqual((hostile["name"], hostile["db"]), (r"\x1b[2J\xff", 0))
        self.assertEqual(hostile["commands"], ["HGETALL"])
        self.assertGreater(changing["invalidations_rate"], 0)
        self.assertGreater(changing["fills_rate"], 0)
        self.assertLess(changing["saved_rate"], changing["hits_rate"])
        self.assertEqual(page["invalidations_rate"], 0)


if __name__ == "__main__":
    unittest.main()
