#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redis-cli as people use it: one command, a script of commands, --pipe, --scan, --bigkeys, MONITOR.
# Arguments: port, RESP version, and with TLS the authority.
set -euo pipefail
flags=(-h localhost -p "$1")
[ "$2" = 3 ] && flags+=(-3)
[ $# -gt 2 ] && flags+=(--tls --cacert "$3")
export REDISCLI_AUTH=secret

expect() {  # WHAT WANTED GOT
  [ "$2" = "$3" ] || { printf '%s: wanted [%s], got [%s]\n' "$1" "$2" "$3"; exit 1; }
}
ok() { echo "ok $1"; }
cli() { redis-cli "${flags[@]}" "$@"; }

until_back() {
  for _ in $(seq 600); do
    [ "$(cli set after restart 2>&1)" = OK ] && break
    sleep 0.05  # between two looks
  done
  expect 'after it' restart "$(cli get after)"
}

ask() {  # WHAT THE RUNNER DOES; its answer is in $answer
  echo "$1"
  read -r answer
}

expect 'a wrong password' 1 "$(REDISCLI_AUTH=wrong cli ping 2>&1 | grep -c WRONGPASS)"
ok password
expect 'who it is' app "$(REDISCLI_AUTH=app-secret cli --user app acl whoami)"
ok acl_user
expect set OK "$(cli set value 'a b')"
expect get 'a b' "$(cli get value)"
ok values
head -c 5000000 /dev/zero | cli -x set big >/dev/null
expect '5 MB' 5000000 "$(cli get big | tr -d '\n' | wc -c)"
ok big_value
expect 'another database' '(nil)' "$(cli --no-raw -n 3 get value)"
ok databases
expect 'multi and exec' 'OK QUEUED QUEUED 1 2' \
  "$(printf 'multi\nincr n\nincr n\nexec\n' | cli | xargs)"
ok transaction
expect eval 3 "$(cli eval 'return redis.call("incr", KEYS[1])' 1 n)"
ok script
for i in $(seq 1000); do printf 'SET pipe:%d %d\r\n' "$i" "$i"; done >commands
expect --pipe 'errors: 0, replies: 1000' "$(cli --pipe <commands | tail -1)"
ok pipe
expect --scan 1000 "$(cli --scan --pattern 'pipe:*' | sort -u | wc -l)"
cli --bigkeys >bigkeys
expect --bigkeys big "$(awk '/^Biggest string found/ { gsub(/[^a-z]/, "", $4); print $4 }' bigkeys)"
ok scan

redis-cli "${flags[@]}" monitor >monitored & monitor=$!
redis-cli "${flags[@]}" subscribe news >heard & subscriber=$!
for _ in $(seq 600); do
  grep -q OK monitored 2>/dev/null && grep -q subscribe heard 2>/dev/null && break
  sleep 0.05  # between two looks
done
expect publish 1 "$(cli publish news now)"
for _ in $(seq 600); do
  grep -q '^now\|"now"' heard && grep -q '"publish" "news" "now"' monitored && break
  sleep 0.05  # between two looks
done
expect heard 1 "$(grep -c '^now\|"now"' heard)"
expect monitored 1 "$(grep -c '"publish" "news" "now"' monitored)"
kill $monitor $subscriber
ok subscribe_and_monitor

for _ in $(seq 20); do printf 'get hot\n'; done >reads
ask HITS
before=$answer
for _ in $(seq 200); do
  cli <reads >/dev/null
  ask HITS
  [ "$answer" -gt "$before" ] && break
done
[ "$answer" -gt "$before" ] || { echo 'nothing was served locally'; exit 1; }
ok hot_reads
ask 'RESTART SERVER'
until_back
ok restart_server
ask 'RESTART PROXY'
until_back
ok restart_proxy
