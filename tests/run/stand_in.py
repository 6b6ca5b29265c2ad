#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the verbs of heatsink that ./run starts: its life and death can be tested alone."""

import http.server
import sys
import time


class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()


flags = dict(zip(sys.argv[2::2], sys.argv[3::2]))
if sys.argv[1] == "proxy":
    host, port = flags["--admin"].rsplit(":", 1)
    server = http.server.HTTPServer((host, int(port)), Healthy)
    print(f"ready: clients {flags['--listen']}, admin http://{host}:{server.server_port}", flush=True)
    server.serve_forever()
while True:
    if sys.argv[1] == "top":
        print("top is up", flush=True)
    time.sleep(1)  # it plays until somebody ends it
