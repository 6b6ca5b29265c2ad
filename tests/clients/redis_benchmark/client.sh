#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redis-benchmark with all its default tests: alone, and pipelined from two threads; then one hot
# key. Arguments: port, RESP version, and with TLS the authority.
set -euo pipefail
flags=(-h localhost -p "$1" -a secret)
[ "$2" = 3 ] && flags+=(-3)
[ $# -gt 2 ] && flags+=(--tls --cacert "$3")

measure() {
  redis-benchmark "${flags[@]}" --csv "$@" | tee rows.csv
  [ "$(grep -c '^"' rows.csv)" -ge 20 ] || { echo "it did not finish all its tests"; exit 1; }
}

measure -n 2000 -c 20
echo 'ok alone'
measure -n 4000 -c 20 -P 16 --threads 2
echo 'ok pipelined'
echo HITS
read -r before
redis-benchmark "${flags[@]}" -q -t get -n 100000 -P 16
echo HITS
read -r after
[ "$after" -gt "$before" ] || { echo 'nothing was served locally'; exit 1; }
echo 'ok hot_reads'
