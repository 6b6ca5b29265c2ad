# SPDX-License-Identifier: Apache-2.0
"""Which form of the checks runs: the short one of CI, or the long one (./check --long)."""

import os
import unittest

LONG = os.environ.get("HEATSINK_LONG") == "1"


def long_form(shown_by):
    """A decorator: real processes play this test or class in the long form only.

    `shown_by`: the test or the scenario of the simulation that shows the same in the short form.
    """
    return unittest.skipUnless(LONG, f"HEATSINK_LONG=1 plays it; else {shown_by} shows it")
