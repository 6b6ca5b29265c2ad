# SPDX-License-Identifier: Apache-2.0
"""A browser that shows the page of a real proxy, with load behind it.

With HEATSINK_SHOTS=FOLDER each test leaves a picture there.
"""

import json
import os
import re
import shutil
import sys
import threading
import unittest
import urllib.request

from harness import PATIENCE_S, SLOW, Proxy, Redis, ValueClient, need_programs, until

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian puts it, whatever python3 runs
try:
    from selenium import webdriver
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.by import By
except ImportError:
    webdriver = None

SKIPPED = 77
HOSTILE = ["<script>document.title='broken'</script>", "\u202ertl:\u202d",
           "</td><img src=x onerror=1>", "a" * 300, b"\xff\xfe:bytes", "=1", "%s%n"]  # fmt: skip


class Load:
    """A steady skewed load through the proxy, until it is closed."""

    def __init__(self, port):
        self.port = port
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with ValueClient(self.port) as client:
            for name in HOSTILE:
                client("SET", name, "x")
            client("SET", "product:1", "x" * 100)
            while not self.over.is_set():
                try:
                    for i in range(20):
                        client("GET", "product:1")
                        client("GET", f"product:{i}")
                        client("INCR", "visits")
                    for name in HOSTILE:
                        client("GET", name)
                except OSError:
                    return  # the proxy has ended
                self.over.wait(0.02)

    def close(self):
        self.over.set()
        self.thread.join()


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1366,900"):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options)


class Page(unittest.TestCase):
    """One proxy, load and browser for all tests: a browser takes seconds to start."""

    OPTIONS = {"detection.hot-qps": 200, "detection.warm-qps": 2, "detection.window": "2s"}
    TOKEN = None

    @classmethod
    def setUpClass(cls):
        need_programs()
        server = cls.make_server()
        options = cls.OPTIONS | ({"admin.token": cls.TOKEN} if cls.TOKEN else {})
        cls.proxy = Proxy(server, options)
        cls.addClassCleanup(cls.proxy.stop)
        cls.load = Load(cls.proxy.port)
        cls.addClassCleanup(cls.load.close)
        cls.driver = browser()
        cls.addClassCleanup(cls.driver.quit)
        cls.home = f"http://127.0.0.1:{cls.proxy.admin_port}/"

    @classmethod
    def make_server(cls):
        """What the proxy stands in front of."""
        redis = Redis()
        cls.addClassCleanup(redis.stop)
        return redis

    def open(self, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(self.home + fragment)

    def tearDown(self):
        shots = os.environ.get("HEATSINK_SHOTS")
        if shots:
            self.driver.save_screenshot(os.path.join(shots, f"{self.id().split('.')[-1]}.png"))
        complaints = [line["message"] for line in self.driver.get_log("browser")
                      if self.is_a_fault(line["message"])]  # fmt: skip
        self.assertEqual(complaints, [])

    def is_a_fault(self, message):
        return True

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def wait(self, condition, what):
        def patient():
            try:
                return condition()
            except StaleElementReferenceException:
                return None

        return until(patient, PATIENCE_S * SLOW, what=what)

    def row(self, name):
        """The cells of the row of a key, by the name of their column."""
        return self.driver.execute_script("""
            for (const row of document.querySelectorAll('#rows tr'))
              if (row.querySelector('bdi')?.textContent === arguments[0])
                return Object.fromEntries([...row.cells].map(c => [c.className, c.textContent]));
            return null;""", name)

    def asked(self, path):
        request = urllib.request.Request(self.home + path)
        if self.TOKEN:
            request.add_header("Authorization", f"Bearer {self.TOKEN}")
        with urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW) as answer:
            return json.load(answer)


def shape(driver):
    """What the page is made of, a line each: columns, buttons, choices, what folds out."""
    texts = driver.execute_script(
        "return [...document.querySelectorAll('nav button, nav option, thead th, #folds summary')]"
        ".map(e => e.textContent)")
    # A heading has times.
    return "".join(re.sub(r"[0-9]+:[0-9:]+|last [0-9]+ s", "TIME", text) + "\n" for text in texts)


def number(text):
    """"1.25k +3.1" -> 1250."""
    found = re.match(r"([\d.]+)([kM]?)", text)
    return float(found[1]) * {"": 1, "k": 1e3, "M": 1e6}[found[2]]


def byte_count(text):
    """"1.5 KiB" -> 1536; "–": 0."""
    found = re.match(r"([\d.]+) ([KM]?)i?B", text)
    return float(found[1]) * {"": 1, "K": 1024, "M": 1024**2}[found[2]] if found else 0


def run():
    """The tests of the main module, or the reason to skip them."""
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: needs chromium, chromium-driver and python3-selenium")
        sys.exit(SKIPPED)
    unittest.main()
