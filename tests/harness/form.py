# SPDX-License-Identifier: Apache-2.0
"""Which form of the checks runs: the short one of CI, or the long one (./check --long)."""

import os

LONG = os.environ.get("HEATSINK_LONG") == "1"
