# SPDX-License-Identifier: Apache-2.0
"""exports_test.py HEADER LIBRARY: the library shows the header's functions and nothing else."""

import pathlib
import re
import subprocess
import sys

header, library = sys.argv[1:]
declared = set(
    re.findall(r"HEATSINK_API [^(;]*?(heatsink_\w+)\(", pathlib.Path(header).read_text())
)
listed = subprocess.run(
    ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
).stdout
exported = {line.split()[2].split("@")[0] for line in listed.splitlines()} - {"HEATSINK_1"}
if not declared or declared != exported:
    sys.exit(f"only declared: {declared - exported}; only exported: {exported - declared}")
