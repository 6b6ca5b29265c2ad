#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redis-benchmark with all its default tests: alone, and pipelined from two threads.
set -euo pipefail
port=$1
flags=()
[ "$2" = 3 ] && flags=(-3)

measure() {
  redis-benchmark -p "$port" "${flags[@]}" --csv "$@" | tee rows.csv
  [ "$(grep -c '^"' rows.csv)" -ge 20 ] || { echo "it did not finish all its tests"; exit 1; }
}

measure -n 2000 -c 20
measure -n 4000 -c 20 -P 16 --threads 2
redis-benchmark -p "$port" "${flags[@]}" -q -t get -n 100000 -P 16  # one hot key
