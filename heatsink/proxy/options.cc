// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/options.h"

#include <chrono>
#include <memory>

#include "heatsink/base/option_list.h"
#include "heatsink/proxy/option_bounds.h"

namespace heatsink::proxy {
namespace {

constexpr double ns(Nanos duration) { return static_cast<double>(duration.count()); }
constexpr double bytes(Bytes size) { return static_cast<double>(size.count); }

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table, a row per option
void ProxyOptions::describe(OptionSet& set) {
  set.add({"proxy.listen", &listen,
           "Address that clients connect to, host:port (port 0 takes a free one), or unix:/path."});
  set.add({"proxy.unix-mode", &unix_mode,
           "Permissions of the file of a Unix socket, in octal; connecting needs the right to "
           "write."});
  set.add({"proxy.workers", &workers, "Threads that serve clients; 0 takes one per core.", 0, 64});
  set.add({"proxy.maximum-clients", &clients_max,
           "Client connections at once; one more is refused with an error.", 1, 1'000'000});
  set.add({"proxy.connection-rate", &connection_rate,
           "New client connections per second in all, and at once; one more is refused with an "
           "error; 0: no limit.",
           0, 1'000'000});
  set.add({"proxy.connection-rate-per-network", &connection_rate_per_network,
           "The same for each IPv4 address, or /64 of IPv6, that clients come from; 0: no limit.",
           0, 1'000'000});
  set.add({"proxy.tls-cert", &tls_cert,
           "File of the certificate (PEM, its chain behind it) that clients are shown; with it the "
           "port speaks TLS only."});
  set.add({"proxy.tls-key", &tls_key, "File of its key (PEM, without a passphrase)."});
  set.add({"proxy.tls-ca", &tls_ca, "File of the authorities that sign certificates of clients."});
  set.add({.name = "proxy.tls-client-auth",
           .target = &tls_client_auth,
           .help =
               "Whether clients are asked for a certificate; optional: one that is shown must be "
               "good.",
           .choices = {"off", "optional", "required"}});
  set.add({"proxy.tls-handshake-timeout", &tls_handshake_timeout,
           "A client whose TLS handshake takes longer is closed.", ns(milliseconds(100)),
           ns(minutes(1))});
  set.add({"proxy.tls-maximum-handshakes", &tls_handshakes_max,
           "TLS handshakes under way at once, in all; a client more is closed.", 1, 100'000});
  set.add({"proxy.client-output-limit", &client_output_max,
           "Bytes kept for a client that reads too slowly: at a quarter its requests wait, at half "
           "its reads are asked again later, and a subscriber past it is closed.",
           bytes(kibibytes(64)), bytes(Bytes{16ULL << 30})});
  set.add({"proxy.maximum-memory", &maximum_memory,
           "Bytes of requests and replies kept for all clients together: past half of it each may "
           "keep 256 KiB, past it the largest is closed; 0: half of the machine's or the control "
           "group's memory, or a quarter of ulimit -v.",
           0, bytes(Bytes{16ULL << 40})});
  set.add({"proxy.slow-client-timeout", &slow_client_timeout,
           "A client that takes none of its waiting replies for so long is closed.", ns(seconds(1)),
           ns(hours(24))});
  set.add({"proxy.pipeline-limit", &pipeline_max,
           "Commands of one client in flight at once; further ones wait in its socket.", 1,
           100'000});
  set.add({"proxy.stream-threshold", &stream_threshold,
           "A request or reply larger than this is streamed on a connection of its own.",
           bytes(kibibytes(16)), bytes(mebibytes(64))});
  set.add({"proxy.maximum-private-connections", &private_connections_max,
           "Upstream connections for clients that hold connection state (MULTI, SUBSCRIBE, BLPOP, "
           "...), in all.",
           1, 1'000'000});
  set.add({"proxy.idle-private-connections", &private_connections_idle,
           "Clean private connections that each worker keeps for the next client.", 0, 1000});

  set.add({"upstream.url", &upstream,
           "The server: redis://[user:password@]host[:port], rediss:// for TLS, or unix:///path."});
  set.add({"upstream.password-file", &upstream_password_file,
           "The file whose first line is the server's password; without it, and without one in the "
           "URL, it is that of the environment, HEATSINK_UPSTREAM_PASSWORD."});
  set.add(
      {"upstream.tls-ca", &upstream_tls_ca,
       "File of the authorities (PEM) that sign the server's certificate; without it those that "
       "this machine trusts."});
  set.add({"upstream.tls-cert", &upstream_tls_cert,
           "File of the certificate that the server is shown, if it wants one."});
  set.add({"upstream.tls-key", &upstream_tls_key, "File of its key, without a passphrase."});
  set.add({"upstream.tls-server-name", &upstream_tls_server_name,
           "The name that the server's certificate must be for; without it the host of the URL."});
  set.add(
      {"upstream.tls-verify", &upstream_tls_verify,
       "Whether the server's certificate is verified; without that anybody can be the server."});
  set.add({"upstream.connect-timeout", &connect_timeout,
           "A server that has not accepted a connection for so long cannot be reached.",
           ns(milliseconds(10)), ns(minutes(1))});
  set.add(
      {"upstream.response-timeout", &response_timeout,
       "A server that owes replies on a shared connection, or its part of a TLS handshake or "
       "login on a new one, and sends nothing of them for so long is taken for gone; each reply "
       "must have come to its end within ten times as long.",
       ns(milliseconds(100)), ns(hours(1))});
  set.add({.name = "upstream.on-down",
           .target = &on_down,
           .help =
               "What a command gets when the server cannot be reached: an error reply that says "
               "so, or its connection is closed, as by the server, so that client libraries "
               "try again.",
           .choices = {"error", "close"}});
  set.add({"upstream.backoff-min", &backoff_min,
           "Pause before the second connection attempt; it doubles from there. A command does not "
           "wait for it: while clients ask, there is an attempt every 10 ms.",
           ns(milliseconds(1)), ns(minutes(1))});
  set.add({"upstream.backoff-max", &backoff_max, "Longest pause between connection attempts.",
           ns(milliseconds(1)), ns(minutes(5))});

  set.add({.name = "log.level",
           .target = &log_level,
           .help = "The least important lines that are written to the log.",
           .choices = {"debug", "info", "warning", "error", "off"}});
  set.add({"log.file", &log_file,
           "File that the log is appended to, opened again by its name on SIGHUP; without it the "
           "log goes to stderr. What cannot be written in time is dropped and counted "
           "(heatsink_log_dropped_total)."});
  set.add({.name = "log.format",
           .target = &log_format,
           .help = "text: time, level and message; json: an object per line with these members.",
           .choices = {"text", "json"}});

  set.add({"admin.listen", &admin,
           "Address of the admin API, host:port; beyond loopback only with a token; \"off\" for "
           "none."});
  set.add({"admin.token", &admin_token,
           "What every request to the admin API must bear (Authorization: Bearer ...); better in "
           "a file: command lines are seen by others."});
  set.add({"admin.token-file", &admin_token_file, "The file with that token, one line."});

  set.add({"admin.metrics-keys", &metrics_keys,
           "Of so many of the busiest hot keys GET /metrics has rows of their own, by name "
           "(privacy.redact-keys); 0: of none.",
           0, 1000});

  set.add({.name = "privacy.redact-keys",
           .target = &redact_keys,
           .help = "How the names of keys are shown in the log, the admin API and heatsink top; "
                   "hash: as key#0123456789abcdef.",
           .choices = {"off", "hash"}});
  set.add({"privacy.redact-secret-file", &redact_secret_file,
           "The file with the secret of that hash, one line, so that proxies show a key alike; "
           "without it each start draws its own."});

  set.add({"detection.enabled", &detection_enabled,
           "Count accesses and name hot keys; without it nothing is cached."});
  set.add({"detection.window", &window, "Length of the sliding window.", kWindowMin, kWindowMax});
  set.add({"detection.slots", &slots, "Steps in which the window slides.", 1, 10});
  set.add({.name = "detection.dimension",
           .target = &dimension,
           .help = "What is counted: accesses, bytes of values, writes, or reads that the server "
                   "answered.",
           .choices = {"requests", "bytes", "writes", "misses"}});
  set.add(
      {"detection.hot-qps", &hot_qps,
       "A key with at least so many accesses (writes, misses) per second over the window is hot.",
       kRateMin, kRateMax});
  set.add({"detection.warm-qps", &warm_qps,
           "A key with at least so many is warm: shown, not cached; at most hot-qps counts.", 0,
           kRateMax});
  set.add(
      {"detection.hot-bytes", &hot_bytes,
       "Where bytes are counted, instead of hot-qps: a key with at least so many bytes per second "
       "is hot.",
       kByteRateMin, kByteRateMax});
  set.add({"detection.warm-bytes", &warm_bytes,
           "Where bytes are counted, instead of warm-qps; at most hot-bytes counts.", 0,
           kByteRateMax});
  set.add(
      {"detection.hot-share", &hot_share,
       "A warm key with at least this part of the node's traffic is hot, too; 0%: the share does "
       "not matter.",
       0, 1});
  set.add({"detection.top-n", &top_n, "At most so many keys are hot at once.", 1, 4096});
  set.add({"detection.confirm-windows", &confirm_windows,
           "Consecutive windows that a key must be above the threshold before it is promoted; 1: "
           "at once.",
           1, 100});
  set.add({"detection.demote-ratio", &demote_ratio,
           "A hot key stays hot until its rate falls below hot-qps times this.", 0, 1});
  set.add({"detection.write-hot-ratio", &write_hot_ratio,
           "A hot key with fewer reads than this per write is write-hot: caching it would cost "
           "more than it saves.",
           0, 1e6});
  set.add({"detection.minimum-residence", &minimum_residence,
           "A promoted key stays hot at least so long.", 0, kResidenceMax});
  set.add({"detection.promotion-interval", &promotion_interval,
           "Promotions are made at most so often, all that are due together; 0: at once.", 0,
           ns(minutes(10))});
  set.add({"detection.demotion-interval", &demotion_interval,
           "Demotions are made at most so often, all that are due together; 0: at once.", 0,
           ns(minutes(10))});
  set.add(
      {"detection.burst", &burst,
       "A key that comes to this part of what makes it hot all at once is hot before the window "
       "has proven it; 0%: never. Not where confirm-windows is above 1.",
       0, 1});
  set.add({"detection.memory", &detection_memory, "Memory of the counters of all workers together.",
           bytes(kibibytes(256)), bytes(mebibytes(1024))});
  set.add({"detection.tick", &tick,
           "How often the window is judged; a key that gets hot fast is judged at once.",
           ns(milliseconds(10)), ns(seconds(5))});

  set.add(
      {"cache.enabled", &cache_enabled, "Serve hot keys from local copies; off: find them only."});
  set.add({.name = "cache.level",
           .target = &level,
           .help = "What is promised of local copies (docs/guides/consistency.md): off: none are "
                   "kept; ttl: only that they end with expire-after-write; key: per key, within "
                   "max-staleness; session: also across the keys that a connection reads.",
           .choices = {"off", "ttl", "key", "session"}});
  set.add({"cache.maximum-size", &maximum_size, "Local copies at once.", 1, 4096});
  set.add({"cache.maximum-bytes", &maximum_bytes, "Bytes of all local copies.",
           bytes(kibibytes(64)), bytes(Bytes{64ULL << 30})});
  set.add({"cache.maximum-value-bytes", &maximum_value_bytes,
           "A value larger than this is never cached.", 1, bytes(mebibytes(16))});
  set.add({"cache.maximum-nil", &maximum_nil,
           "Of the local copies, at most so many that say \"no such key\".", 0, 4096});
  set.add({"cache.maximum-tracked-keys", &maximum_tracked_keys,
           "Names that the server may have to remember for the proxy, each until its key changes: "
           "they share its tracking-table-max-keys (1000000) with clients that track themselves. "
           "Past it, hot keys that it does not remember yet get no copies.",
           1, 10'000'000});
  set.add({"cache.warm-share", &warm_share,
           "Of maximum-size and maximum-bytes, what warmed keys may take at most (heatsink warm, "
           "warming).",
           0, 1});
  set.add({"cache.expire-after-write", &expire_after_write,
           "A local copy lives at most so long, even if the key has no TTL or the server tells "
           "nothing.",
           ns(milliseconds(10)), ns(hours(1))});
  set.add({"cache.max-staleness", &max_staleness,
           "Hard bound, at the levels key and session: without proof from the server within this "
           "time no local copy is served.",
           kStalenessMin, kStalenessMax});
  set.add({"cache.maximum-waiters", &maximum_waiters,
           "Clients of one worker that may wait for the same fill; further ones ask the server "
           "themselves.",
           0, 100'000});
  set.add({"cache.heartbeat-interval", &heartbeat_interval,
           "How often the server proves that it still sends invalidations; at most half of "
           "max-staleness.",
           ns(milliseconds(5)), ns(seconds(30))});
  set.add({"cache.acl-staleness", &acl_staleness,
           "A user who may no longer read a key gets no local copy of it after this. The server is "
           "asked twice as often who may do what.",
           ns(milliseconds(100)), ns(hours(1))});
  set.add({"cache.heartbeat-key", &heartbeat_key,
           "The key that the proof asks for (EXISTS); it need not exist."});

  set.add(
      {"refresh.enabled", &refresh_enabled,
       "Renew copies that are read before they have lived expire-after-write, so that no reader "
       "waits for it (docs/guides/refresh.md)."});
  set.add({"refresh.interval", &refresh_interval, "How often it is looked which copies are due.",
           ns(milliseconds(5)), ns(seconds(10))});
  set.add(
      {"refresh.ahead", &refresh_ahead,
       "A copy is renewed when this part of its life is left, or up to twice as much: drawn for "
       "each, so that what was filled together is not renewed together.",
       0.01, 0.45});
  set.add({"refresh.max-failures", &refresh_failures_max,
           "After so many failures in a row a copy is left to end; then its readers ask.", 1, 100});

  set.add({"audit.sample-rate", &audit_rate,
           "Part of the local hits that are compared with the server afterwards, on a connection "
           "of its own; 0%: none.",
           0, 1});
  set.add({"audit.maximum-rate", &audits_per_second,
           "At most so many of them per second; each is two small commands for the server.", 1,
           1000});

  set.add({"limits.maximum-keys", &limits_keys,
           "Keys, or clients, that each rule with a limit remembers at once; past it the one that "
           "is farthest from its limit is forgotten. 128 bytes each, with sliding windows 800.",
           64, 1'000'000});
  set.add({"limits.maximum-waiting", &limits_waiting,
           "Clients that may wait for their turn at once (limit.over: delay); one more is refused.",
           0, 1'000'000});
  set.add(
      {"limits.refusal-delay", &refusal_delay,
       "A client that asks for nothing but what is refused is told so after this, from the 65th "
       "refusal in a row on; 0: at once.",
       0, ns(seconds(1))});
  set.add({"limits.automatic-qps", &automatic_qps,
           "A key with at least so many accesses per second, and without a limit of its own, may "
           "send the server no more than this until it cools down; 0: off.",
           0, kRateMax});

  set.add(std::make_unique<OptionListOf<RuleOptions>>(
      OptionListRow{"rules", "rule",
                    "Thresholds and promises of their own for some keys; what a rule does not say "
                    "is as under detection and cache (docs/guides/rules.md).",
                    "match=product:*,hot-qps=500,window=1s"},
      rules));
  set.add(std::make_unique<OptionListOf<WarmingOptions>>(
      OptionListRow{"warming", "warming",
                    "Keys that are hot at a time of day, whatever their rate "
                    "(docs/guides/warming.md).",
                    "key=sale:42,from=19:55,until=20:30"},
      warming));
}

}  // namespace heatsink::proxy
