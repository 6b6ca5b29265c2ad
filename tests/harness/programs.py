# SPDX-License-Identifier: Apache-2.0
"""The programs under test: which they are, and what a test does without them."""

import os
import shutil
import unittest

HEATSINK = os.environ.get("HEATSINK", "build/dev/apps/heatsink/heatsink")
LIBRARY_HOST = os.environ.get(
    "HEATSINK_LIBRARY_HOST", "build/dev/tests/consistency/heatsink_library_host"
)
# A redis-server, or another server that takes its options (tests/servers unpacks some).
SERVER = os.environ.get("HEATSINK_TEST_SERVER", "redis-server")


def need_programs():
    if shutil.which(SERVER) is None:
        raise unittest.SkipTest(f"{SERVER} is not installed")
    if not os.access(HEATSINK, os.X_OK):
        raise unittest.SkipTest("HEATSINK does not name the heatsink program")
