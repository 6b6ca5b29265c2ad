#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redis-cli as people use it: one command, a script of commands, --pipe, --scan, --bigkeys, MONITOR.
set -euo pipefail
port=$1
flags=(-p "$port" "-$2")
[ "$2" = 2 ] && flags=(-p "$port")

expect() {  # WHAT WANTED GOT
  [ "$2" = "$3" ] || { printf '%s: wanted [%s], got [%s]\n' "$1" "$2" "$3"; exit 1; }
  echo "ok $1"
}
cli() { redis-cli "${flags[@]}" "$@"; }

expect 'set' OK "$(cli set value 'a b')"
expect 'get' 'a b' "$(cli get value)"
head -c 5000000 /dev/zero | cli -x set big >/dev/null
expect '5 MB' 5000000 "$(cli get big | tr -d '\n' | wc -c)"
expect 'select' '(nil)' "$(cli --no-raw -n 3 get value)"
expect 'transaction' "OK QUEUED QUEUED 1 2" \
  "$(printf 'multi\nincr n\nincr n\nexec\n' | cli | xargs)"
expect 'eval' '3' "$(cli eval 'return redis.call("incr", KEYS[1])' 1 n)"
for i in $(seq 1000); do printf 'SET pipe:%d %d\r\n' "$i" "$i"; done >commands
expect '--pipe' 'errors: 0, replies: 1000' "$(cli --pipe <commands | tail -1)"
expect '--scan' 1000 "$(cli --scan --pattern 'pipe:*' | sort -u | wc -l)"
cli --bigkeys >bigkeys
expect '--bigkeys' big \
  "$(awk '/^Biggest string found/ { gsub(/[^a-z]/, "", $4); print $4 }' bigkeys)"
timeout 3 redis-cli "${flags[@]}" monitor >monitored & monitor=$!
timeout 3 redis-cli "${flags[@]}" subscribe news >heard & subscriber=$!
for _ in $(seq 50); do
  grep -q OK monitored 2>/dev/null && grep -q subscribe heard 2>/dev/null && break
  sleep 0.05
done
expect 'publish' 1 "$(cli publish news now)"
wait $monitor $subscriber || true
expect 'subscribe' 1 "$(grep -c '^now\|"now"' heard)"
expect 'monitor' 1 "$(grep -c '"publish" "news" "now"' monitored)"
echo RESTART
read -r _
for _ in $(seq 100); do
  [ "$(cli set after restart 2>&1)" = OK ] && break
  sleep 0.05
done
expect 'restart' restart "$(cli get after)"
