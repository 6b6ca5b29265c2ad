#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_page.py HEATSINK: takes the pictures page.png and page.txt beside this file.

page.png is the page of a real proxy under load, in Chromium. page.txt has what the page is made of
(columns, buttons, choices, what folds out): tests/page compares it with the page of now, so a
picture of an older page fails a test. Takes two minutes.
"""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "tests"), str(HERE.parents[1] / "tests" / "page")]
import page_stage  # noqa: E402
from harness import Redis  # noqa: E402
from harness.processes import Process, free_port  # noqa: E402

LOADS = (("4000", "40s"), ("0", "8s"), ("6000", "50s"))  # operations a second (0: all), for


def main():
    heatsink = sys.argv[1]
    redis, port, admin = Redis(), free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        proxy = Process([heatsink, "proxy", "--listen", f"127.0.0.1:{port}", "--admin",
                         f"127.0.0.1:{admin}", "--upstream", f"redis://127.0.0.1:{redis.port}",
                         "--set", f"history.file={folder}/history"])  # fmt: skip
        driver = page_stage.browser()
        try:
            for rate, lasts in LOADS:
                load = subprocess.Popen([heatsink, "load", "--target", f"127.0.0.1:{port}",
                                         "--prefix", "", "--rate", rate, "--for", lasts, "--quiet"])
                if (rate, lasts) != LOADS[-1]:
                    load.wait()
            time.sleep(30)  # of the last load
            driver.set_window_size(1366, 720)
            driver.get(f"http://127.0.0.1:{admin}/")
            time.sleep(8)
            driver.save_screenshot(str(HERE / "page.png"))
            (HERE / "page.txt").write_text(page_stage.shape(driver), encoding="utf-8")
            load.terminate()
            load.wait()
        finally:
            driver.quit()
            proxy.end(signal.SIGTERM)
            redis.stop()


if __name__ == "__main__":
    main()
