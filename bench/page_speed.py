#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast the page is in a browser: its first paint, frames while a person scrolls, and
how long an input takes until it is seen.

A real proxy with load stands behind it. Chromium measures (paint, event and frame times of its
performance API). With 1000 rows: the page's own answers, in which each key was repeated.
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/page")]

# Runs before the page's own scripts: when the first row came, and what the browser says of inputs.
WATCH = """
new MutationObserver((_, observer) => {
  if (!document.querySelector('#rows tr[data-id]')) return;
  observer.disconnect();
  requestAnimationFrame(() => { window.rowsAt = performance.now(); });
}).observe(document, { childList: true, subtree: true });
window.inputs = [];
window.long = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (entry.interactionId) window.inputs.push(entry.duration);
}).observe({ type: 'event', durationThreshold: 16 });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.long.push(entry.duration);
}).observe({ type: 'longtask' });
"""
# Each key of an answer stands in it so often that it has about ROWS rows; no stream, so that every
# column comes by such an answer.
REPEAT = """
const real = window.fetch;
window.fetch = async (path, options) => {
  if (String(path).startsWith('/api/stream')) return new Response('', { status: 503 });
  const answer = await real(path, options);
  if (!String(path).startsWith('/api/heatmap') || !answer.ok) return answer;
  const told = await answer.json();
  const keys = told.rows.filter((row) => row.kind === 'key');
  for (const row of keys) {
    for (let i = 0; i < ROWS / keys.length - 1; ++i) {
      const name = `copy ${i} of ${row.name}`;
      told.rows.push({ ...row, name, name_base64: btoa(name) });
    }
  }
  return new Response(JSON.stringify(told));
};
"""
SCROLL = """
const [seconds, done] = arguments;
const times = [];
let by = 30;
const began = performance.now();
const step = (now) => {
  times.push(now);
  if (now - began > 1000 * seconds) return done(times);
  const end = document.documentElement.scrollHeight - innerHeight;
  if (scrollY >= end - 1) by = -30;
  if (scrollY <= 0) by = 30;
  scrollBy(0, by);
  requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""


def preload(driver, text):
    """Runs it before the scripts of each page that is opened; returns its id."""
    return driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": text})[
        "identifier"]  # fmt: skip


def wait(driver, script, seconds=30):
    end = time.monotonic() + seconds
    while not (found := driver.execute_script(script)):
        if time.monotonic() > end:
            sys.exit(f"page_speed: not within {seconds} s: {script}")
        time.sleep(0.05)
    return found


def first_paint(driver, home, runs):
    """[(first contentful paint, first row)] in ms."""
    out = []
    for _ in range(runs):
        driver.get("about:blank")
        driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        driver.get(home)
        rows = wait(driver, "return window.rowsAt")
        painted = driver.execute_script(
            "return performance.getEntriesByName('first-contentful-paint')[0].startTime")
        out.append((painted, rows))
    return out


def frames(driver, seconds):
    """Milliseconds of each frame while the page scrolls."""
    driver.set_script_timeout(seconds + 30)
    times = driver.execute_async_script(SCROLL, seconds)
    return [b - a for a, b in zip(times, times[1:], strict=False)]


def inputs(driver, rounds):
    """Milliseconds from an input to the frame that shows what came of it; 16: or less."""
    from selenium.webdriver import ActionChains  # pylint: disable=import-outside-toplevel
    from selenium.webdriver.common.by import By  # pylint: disable=import-outside-toplevel
    from selenium.webdriver.common.keys import Keys  # pylint: disable=import-outside-toplevel

    driver.execute_script("scrollTo(0, 0); window.inputs = [];")
    given = 0
    for _ in range(rounds):
        for key in ("j", "s", "b", Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ENTER, Keys.ESCAPE, "k"):
            ActionChains(driver).send_keys(key).perform()
            time.sleep(0.15)
            given += 1
        field = driver.find_element(By.CSS_SELECTOR, "#filter")
        for letter in "pro":
            field.send_keys(letter)
            time.sleep(0.15)
            given += 1
        field.clear()
        field.send_keys(Keys.ESCAPE)
        given += 1
    time.sleep(0.5)
    slow = driver.execute_script("return window.inputs")
    return slow + [16.0] * max(0, given - len(slow))


def at(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def report(driver, name, arguments):
    driver.execute_script("window.long = [];")
    took = frames(driver, arguments.seconds)
    tasks = driver.execute_script("return window.long")
    rows = driver.execute_script("return document.querySelectorAll('#rows tr[data-id]').length")
    print(f"{name} ({rows} rows)")
    print(f"  frames while scrolling      {1000 * len(took) / sum(took):5.1f} per s (60); median"
          f" {statistics.median(took):.1f} ms, 99 of 100 within {at(took, 0.99):.1f} ms;"
          f" tasks above 50 ms: {len(tasks)} in {arguments.seconds} s,"
          f" longest {max(tasks, default=0):.0f} ms")  # fmt: skip
    took = inputs(driver, arguments.rounds)
    print(f"  an input until it is seen   median {statistics.median(took):.0f} ms, 9 of 10 within"
          f" {at(took, 0.9):.0f} ms (50), longest {max(took):.0f} ms, of {len(took)}", flush=True)


def measure(harness, page_stage, arguments):
    redis = harness.Redis()
    proxy = harness.Proxy(redis, {"proxy.workers": 1})
    load = harness.processes.Process(
        [harness.HEATSINK, "load", "--target", f"redis://127.0.0.1:{proxy.port}", "--for", "0",
         "--rate", str(arguments.rate), "--quiet"]
    )  # fmt: skip
    driver = page_stage.browser()
    try:
        time.sleep(arguments.warm_up)
        home = f"http://127.0.0.1:{proxy.admin_port}/"
        preload(driver, WATCH)
        paints = first_paint(driver, home, arguments.runs)
        for name, i in (("first paint", 0), ("first row of the table", 1)):
            took = [paint[i] for paint in paints]
            print(f"{name:27} median {statistics.median(took):.0f} ms (1000), longest"
                  f" {max(took):.0f} ms, of {len(took)}", flush=True)  # fmt: skip
        report(driver, "as it is", arguments)
        preload(driver, REPEAT.replace("ROWS", str(arguments.rows)))
        driver.get("about:blank")
        driver.get(home)
        least = 0.9 * arguments.rows
        wait(driver, f"return document.querySelectorAll('#rows tr').length > {least}")
        report(driver, "repeated", arguments)
    finally:
        driver.quit()
        load.kill()
        proxy.process.kill()
        redis.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=5000, help="requests per second")
    parser.add_argument("--runs", type=int, default=9, help="of the first paint")
    parser.add_argument("--rounds", type=int, default=5, help="of inputs")
    parser.add_argument("--seconds", type=float, default=10, help="of scrolling")
    parser.add_argument("--warm-up", type=float, default=20, help="seconds of history")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    program = arguments.programs / "apps/heatsink/heatsink"
    if not program.exists():
        sys.exit(f"page_speed: no {program}: build it with deploy/build release heatsink")
    os.environ["HEATSINK"] = str(program)
    import harness  # pylint: disable=import-outside-toplevel
    import harness.processes  # pylint: disable=import-outside-toplevel
    import page_stage  # pylint: disable=import-outside-toplevel

    measure(harness, page_stage, arguments)


if __name__ == "__main__":
    main()
