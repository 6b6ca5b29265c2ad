// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/options.h"

#include <chrono>
#include <memory>

#include "heatsink/base/option_list.h"
#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table, a row per option
void ProxyOptions::describe(OptionSet& set) {
  set.add(at_start(
      {"proxy.listen", &listen,
       "Address that clients connect to: host:port (port 0: any free port), or unix:/path."}));
  set.add(at_start({"proxy.unix-mode", &unix_mode,
                    "Permissions of a Unix socket's file, in octal. "
                    "A client needs write permission to connect."}));
  set.add({.name = "proxy.present-as",
           .target = choice_of(present_as),
           .help = "What clients see. cluster: a cluster of proxies, "
                   "for client libraries in cluster mode. "
                   "The proxy then answers CLUSTER, READONLY, READWRITE and ASKING itself.",
           .choices = {"server", "cluster"}});
  set.add({.name = "proxy.hot-channel",
           .target = choice_of(hot_channel),
           .help = "Which clients may subscribe to __heatsink__:hot, which names all hot keys. "
                   "proxys-user: those with the proxy's own login, "
                   "or without one if the server asks for none. "
                   "all: also other users, whatever keys and channels the server allows them. "
                   "off: none, and the name is an ordinary channel of the server. "
                   "A change ends no subscription (docs/guides/verdicts.md).",
           .choices = {"proxys-user", "all", "off"}});
  set.add({.name = "proxy.client-tracking",
           .target = choice_of(client_tracking),
           .help = "Who sends invalidations to clients with caches of their own (CLIENT TRACKING). "
                   "off: the server; such a client has a private connection and gets no copies. "
                   "pays: the proxy, in RESP3. In front of a cluster off refuses it. "
                   "The client keeps what a local copy has answered, "
                   "and forgets all else right behind the reply (docs/guides/near-caches.md). "
                   "Rules can except keys.",
           .choices = {"off", "pays"}});
  set.add({"proxy.announce-address", &announce_address,
           "With present-as: cluster, the host:port at which clients reach the proxy, "
           "behind a NAT or in Kubernetes. Empty: the address that the client has come to."});
  set.add({"proxy.announce-addresses", &announce_addresses,
           "With present-as: cluster, the host:port of all proxies, separated by commas. "
           "Each one is a node with an equal part of the slots. The same list, in the same order, "
           "on each proxy; 64 at most. Empty: this proxy alone."});
  set.add(at_start(
      {"proxy.workers", &workers,
       "Maximum number of threads that serve clients. "
       "0: one per CPU that the process may use (CPU affinity, container quota), 64 at most. "
       "A thread is used when the ones before it are busy.",
       0, kWorkersMax}));
  set.add({"proxy.maximum-clients", &clients_max,
           "Maximum number of client connections. "
           "One more gets an error (with TLS: none) and is closed.",
           1, 1'000'000});
  set.add({"proxy.connection-rate", &connection_rate,
           "Maximum rate of new client connections, per second, in all. 0: no limit. "
           "As many may connect at once as in one second. "
           "One more gets an error (with TLS: none) and is closed.",
           0, 1'000'000});
  set.add({"proxy.connection-rate-per-network", &connection_rate_per_network,
           "Like proxy.connection-rate, for each IPv4 address or IPv6 /64 of clients. 0: no limit.",
           0, 1'000'000});
  set.add({"proxy.tls-cert", &tls_cert,
           "PEM file with the proxy's certificate, followed by its chain. "
           "If set, clients must use TLS."});
  set.add({"proxy.tls-key", &tls_key,
           "PEM file with the private key of proxy.tls-cert, without a passphrase."});
  set.add({"proxy.tls-ca", &tls_ca,
           "PEM file with the certificate authorities (CAs) that sign client certificates."});
  set.add({.name = "proxy.tls-client-auth",
           .target = choice_of(tls_client_auth),
           .help = "Whether clients need a certificate. With optional, a client may have none, "
                   "but a certificate that it sends must be valid.",
           .choices = {"off", "optional", "required"}});
  set.add({"proxy.tls-handshake-timeout", &tls_handshake_timeout,
           "The proxy closes a client whose TLS handshake takes longer.", bound(milliseconds(100)),
           bound(minutes(1))});
  set.add({"proxy.tls-maximum-handshakes", &tls_handshakes_max,
           "Maximum number of TLS handshakes in progress. The proxy closes further clients.", 1,
           100'000});
  set.add(
      {"proxy.client-output-limit", &client_output_max,
       "Bytes of replies buffered for one client that reads slowly. "
       "At a quarter of it, further requests of the client wait. At half of it, "
       "the proxy drops arriving replies to the client's reads, and sends these reads again later. "
       "A subscriber above it is closed.",
       bound(kibibytes(64)), bound(Bytes{16ULL << 30})});
  set.add({"proxy.maximum-memory", &maximum_memory,
           "Bytes of requests and replies buffered for all clients. 0: a share of the memory. "
           "Above half of the limit, each client may buffer 128 KiB. "
           "Above the limit, the proxy closes the client that buffers most. "
           "With 0, the limit is half of the memory of the machine or control group, "
           "or a quarter of `ulimit -v` if that is less; "
           "at least 16 MiB, and 1 GiB if nothing is known.",
           0, bound(Bytes{16ULL << 40})});
  set.add({"proxy.slow-client-timeout", &slow_client_timeout,
           "The proxy closes a client that accepts nothing of its waiting replies for this long.",
           bound(seconds(1)), bound(hours(24))});
  set.add({"proxy.pipeline-limit", &pipeline_max,
           "Maximum number of commands in flight per client. Further commands wait in its socket.",
           1, 100'000});
  set.add(at_start(
      {"proxy.stream-threshold", &stream_threshold,
       "A request or reply larger than this is streamed over a private connection to the server.",
       bound(kibibytes(16)), bound(mebibytes(64))}));
  set.add({"proxy.maximum-private-connections", &private_connections_max,
           "Maximum number of private connections to the server, in all. "
           "Clients with connection state (MULTI, SUBSCRIBE, BLPOP, ...) use private connections.",
           1, 1'000'000});
  set.add({"proxy.idle-private-connections", &private_connections_idle,
           "Clean private connections that each worker keeps for its next clients.", 0, 1000});

  set.add({"shutdown.drain", &shutdown_drain,
           "How long clients may end what they have begun after SIGTERM or SIGINT: commands, "
           "transactions, blocking commands. 0: all connections are cut at once.",
           0, bound(hours(1))});

  UpstreamOptions::describe(set);

  set.add({.name = "log.level",
           .target = choice_of(log_level),
           .help = "Lowest level that is logged.",
           .choices = {"debug", "info", "warning", "error", "off"}});
  set.add({"log.file", &log_file,
           "File to append the log to. Empty: stderr. SIGHUP opens the file again by its name. "
           "Lines that cannot be written in time are dropped "
           "and counted (heatsink_log_dropped_total)."});
  set.add({.name = "log.format",
           .target = choice_of(log_format),
           .help = "text: time, level and message; json: one object per line with these members.",
           .choices = {"text", "json"}});

  set.add(at_start({"admin.listen", &admin,
                    "Address of the admin API, host:port; off: no admin API. "
                    "Beyond loopback it requires a token."}));
  set.add({"admin.token", &admin_token,
           "Token that each admin API request must carry (Authorization: Bearer ...). "
           "Prefer admin.token-file: other users can see command lines."});
  set.add({"admin.token-file", &admin_token_file,
           "File with the admin token on one line, or with several, a line for each. "
           "Such a line is viewer NAME TOKEN (may look) or operator NAME TOKEN "
           "(may also change things)."});
  set.add({"admin.metrics-keys", &metrics_keys,
           "Number of hot keys that have separate metrics in GET /metrics, busiest first. 0: none. "
           "Key names are shown as privacy.redact-keys says.",
           0, 1000});

  set.add(at_start({"history.file", &history_file,
                    "SQLite file for what was hot: columns of time, and events. "
                    "heatsink history and the page read it, "
                    "also from before a restart (docs/guides/history.md). Empty: none. "
                    "One proxy per file. "
                    "Names of keys are in it as privacy.redact-keys says."}));
  set.add(at_start({"history.maximum-size", &history_size,
                    "Size of history.file. Above it, the oldest parts are removed. "
                    "Its log (-wal) takes some megabytes more.",
                    bound(mebibytes(1)), bound(Bytes{1ULL << 40})}));
  set.add(at_start({"history.maximum-age", &history_age,
                    "How long history.file keeps what was hot. "
                    "Seconds are kept for an hour, steps of 10 s for 2 days, minutes for 14 days, "
                    "steps of 10 minutes for 60 days, hours and events for this time.",
                    bound(hours(1)), bound(hours(10 * 365 * 24))}));

  set.add({"doctor.enabled", &doctor_enabled,
           "Whether the proxy makes the checks of heatsink doctor (docs/guides/doctor.md). "
           "It makes them at its start, "
           "and some of them when its connection to the server is lost or back. "
           "The findings are at /api/health, warnings and errors also in the log."});

  set.add(at_start({.name = "privacy.redact-keys",
                    .target = choice_of(redact_keys),
                    .help = "How key names appear in the log, the admin API and heatsink top. "
                            "hash: as key#0123456789abcdef.",
                    .choices = {"off", "hash"}}));
  set.add(at_start({"privacy.redact-secret-file", &redact_secret_file,
                    "File with the secret of that hash, on one line. "
                    "Proxies with the same secret show the same hashes. "
                    "Without it, each start draws a new secret."}));

  DetectionOptions::describe(set);
  set.add(at_start({"fleet.enabled", &fleet_enabled,
                    "Whether the proxy counts together with others (docs/guides/fleet.md). "
                    "It then writes a few kilobytes to the server in each interval: "
                    "names and counts of its busiest keys."}));
  set.add(at_start({"fleet.name", &fleet_name,
                    "Name of the fleet: proxies and libraries with the same name count together, "
                    "and share limits with limit.scope: fleet. "
                    "1 to 64 letters, digits, dots, underscores and hyphens."}));
  set.add(
      at_start({"fleet.interval", &fleet_interval,
                "How often the proxy reports and reads the merged list, give or take a tenth. "
                "Fleets with more than 20 proxies report less often, 62 times per second in all; "
                "a change that could make a key hot or cold is reported at once.",
                bound(milliseconds(50)), bound(minutes(1))}));
  set.add(at_start({"fleet.shards", &fleet_shards,
                    "Parts of the fleet whose reports are merged separately, then all together. "
                    "1 is enough for 1000 proxies. All proxies need the same number. "
                    "In a cluster, each shard's keys are on one node.",
                    1, 1024}));

  CopyOptions::describe(set);
  set.add({"limits.maximum-keys", &limits_keys,
           "Maximum number of keys, or clients, that each rule with a limit remembers. "
           "Beyond it, the one farthest from its limit is forgotten. "
           "Each takes 128 bytes, or 800 bytes with sliding windows.",
           64, 1'000'000});
  set.add({"limits.maximum-waiting", &limits_waiting,
           "Maximum number of clients that wait for their turn (limit.over: delay). "
           "Others are refused.",
           0, 1'000'000});
  set.add({"limits.refusal-delay", &refusal_delay,
           "Delay of refusals for a client that sends only refused commands. 0: no delay. "
           "The delay begins with the 65th refusal in a row.",
           0, bound(seconds(1))});
  set.add(
      {"limits.automatic-qps", &automatic_qps,
       "Limits a key that reaches this many accesses per second to that rate at the server. 0: "
       "off. The limit applies to keys whose rule has none, and ends when the key has cooled down.",
       0, kRateMax});

  alerts.describe(set);

  set.add(std::make_unique<OptionListOf<RuleOptions>>(
      OptionListRow{"rules", "rule",
                    "Rules set thresholds, consistency levels and limits for some keys. "
                    "What a rule does not set is as under detection and cache "
                    "(docs/guides/configuration.md).",
                    "match=product:*,hot-qps=500,window=1s"},
      rules));
  set.add(std::make_unique<OptionListOf<WarmingOptions>>(
      OptionListRow{
          "warming", "warming",
          "Keys that are hot at a time of day, whatever their rate (docs/guides/copies.md).",
          "key=sale:42,from=19:55,until=20:30"},
      warming));
}

}  // namespace heatsink::policy
