// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/options.h"

#include <chrono>
#include <memory>

#include "heatsink/base/option_list.h"
#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {
namespace {

constexpr double ns(Nanos duration) { return static_cast<double>(duration.count()); }
constexpr double bytes(Bytes size) { return static_cast<double>(size.count); }

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

OptionRow at_start(OptionRow row) {
  row.needs_restart = true;
  return row;
}

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
                   "pays: the proxy, in RESP3 and in front of one server. "
                   "The client keeps what a local copy has answered, "
                   "and forgets all else right behind the reply (docs/guides/near-caches.md).",
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
           "The proxy closes a client whose TLS handshake takes longer.", ns(milliseconds(100)),
           ns(minutes(1))});
  set.add({"proxy.tls-maximum-handshakes", &tls_handshakes_max,
           "Maximum number of TLS handshakes in progress. The proxy closes further clients.", 1,
           100'000});
  set.add(
      {"proxy.client-output-limit", &client_output_max,
       "Bytes of replies buffered for one client that reads slowly. "
       "At a quarter of it, further requests of the client wait. At half of it, "
       "the proxy drops arriving replies to the client's reads, and sends these reads again later. "
       "A subscriber above it is closed.",
       bytes(kibibytes(64)), bytes(Bytes{16ULL << 30})});
  set.add({"proxy.maximum-memory", &maximum_memory,
           "Bytes of requests and replies buffered for all clients. 0: a share of the memory. "
           "Above half of the limit, each client may buffer 128 KiB. "
           "Above the limit, the proxy closes the client that buffers most. "
           "With 0, the limit is half of the memory of the machine or control group, "
           "or a quarter of `ulimit -v` if that is less; "
           "at least 16 MiB, and 1 GiB if nothing is known.",
           0, bytes(Bytes{16ULL << 40})});
  set.add({"proxy.slow-client-timeout", &slow_client_timeout,
           "The proxy closes a client that accepts nothing of its waiting replies for this long.",
           ns(seconds(1)), ns(hours(24))});
  set.add({"proxy.pipeline-limit", &pipeline_max,
           "Maximum number of commands in flight per client. Further commands wait in its socket.",
           1, 100'000});
  set.add(at_start(
      {"proxy.stream-threshold", &stream_threshold,
       "A request or reply larger than this is streamed over a private connection to the server.",
       bytes(kibibytes(16)), bytes(mebibytes(64))}));
  set.add({"proxy.maximum-private-connections", &private_connections_max,
           "Maximum number of private connections to the server, in all. "
           "Clients with connection state (MULTI, SUBSCRIBE, BLPOP, ...) use private connections.",
           1, 1'000'000});
  set.add({"proxy.idle-private-connections", &private_connections_idle,
           "Clean private connections that each worker keeps for its next clients.", 0, 1000});

  set.add({"shutdown.drain", &shutdown_drain,
           "How long clients may end what they have begun after SIGTERM or SIGINT: commands, "
           "transactions, blocking commands. 0: all connections are cut at once.",
           0, ns(hours(1))});

  set.add(at_start({"upstream.url", &upstream,
                    "The server: redis://[user:password@]host[:port], rediss:// for TLS, "
                    "or unix:///path. Nodes of a cluster: "
                    "redis+cluster://a,b (also found out from any of its nodes). "
                    "A master that moves: redis+sentinel://a,b,c/mymaster by its Sentinels, "
                    "or redis+replicas://a,b for a master with its replicas. "
                    "Another password is taken live."}));
  set.add(at_start({"upstream.translate", &upstream_translate,
                    "Where the proxy reaches servers that announce other addresses (NAT). "
                    "Pairs announced=reached of host:port or of hosts, with commas between them, "
                    "as in 10.0.0.5:6379=127.0.0.1:7001,10.0.0.6=gateway."}));
  set.add({.name = "upstream.cross-slot",
           .target = choice_of(cross_slot),
           .help = "MSET with keys in several slots of a cluster. split: each part is atomic, "
                   "the whole is not. refuse: CROSSSLOT, as from the cluster.",
           .choices = {"split", "refuse"}});
  set.add(at_start({"upstream.zone", &zone,
                    "The proxy's availability zone. "
                    "Replicas in it are read first (reads of a rule). "
                    "Empty: all replicas are alike. "
                    "Valkey 8 and later say their zone themselves (availability-zone); "
                    "for others see upstream.zones."}));
  set.add(at_start({"upstream.zones", &zones,
                    "Zones of servers that do not say theirs. "
                    "Pairs server=zone of host:port or of hosts, with commas between them, "
                    "as in 10.0.0.5:6379=eu-1a,10.0.1.6=eu-1b. "
                    "They are the addresses at which the proxy reaches them."}));
  set.add({"upstream.password-file", &upstream_password_file,
           "File whose first line is the server's password. "
           "Without it, the password comes from upstream.url, "
           "or else from the environment variable HEATSINK_UPSTREAM_PASSWORD."});
  set.add(at_start({"upstream.sentinel-user", &sentinel_user,
                    "With redis+sentinel://: the user for the Sentinels themselves. "
                    "Empty: their default user."}));
  set.add(at_start(
      {"upstream.sentinel-password-file", &sentinel_password_file,
       "With redis+sentinel://: file whose first line is the password of the Sentinels. Empty: "
       "they have none. The password in upstream.url is that of the servers."}));
  set.add({"upstream.tls-ca", &upstream_tls_ca,
           "PEM file with the CAs that sign the server's certificate. "
           "Empty: the CAs that this machine trusts."});
  set.add({"upstream.tls-cert", &upstream_tls_cert,
           "PEM file with the certificate that the proxy sends if the server wants one."});
  set.add({"upstream.tls-key", &upstream_tls_key,
           "PEM file with the private key of upstream.tls-cert, without a passphrase."});
  set.add({"upstream.tls-server-name", &upstream_tls_server_name,
           "Name that the server's certificate must be for. Empty: the host of upstream.url."});
  set.add({"upstream.tls-verify", &upstream_tls_verify,
           "Whether the proxy verifies the server's certificate. "
           "If false, anyone can impersonate the server."});
  set.add({"upstream.connect-timeout", &connect_timeout,
           "A server that does not accept a connection within this time is unreachable.",
           ns(milliseconds(10)), ns(minutes(1))});
  set.add({"upstream.response-timeout", &response_timeout,
           "Maximum silence on a connection to the server that owes a reply. "
           "Then the proxy resets it. The server may still execute what it has received. "
           "This covers shared connections, and the TLS handshake and login of new ones. "
           "Each reply must be complete within ten times this time.",
           ns(milliseconds(100)), ns(hours(1))});
  set.add({"upstream.slot-stats-interval", &slot_stats_interval,
           "How often the proxy asks each master of a cluster for CLUSTER SLOT-STATS. "
           "It asks only while somebody reads the load of slots (admin API, metrics). "
           "In a fleet: this times the number of proxies. 0: never.",
           0, ns(hours(1))});
  describe_outages(set);

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

  describe_admin(set);
  describe_history(set);

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

  describe_detection(set);
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
                ns(milliseconds(50)), ns(minutes(1))}));
  set.add(at_start({"fleet.shards", &fleet_shards,
                    "Parts of the fleet whose reports are merged separately, then all together. "
                    "1 is enough for 1000 proxies. All proxies need the same number. "
                    "In a cluster, each shard's keys are on one node.",
                    1, 1024}));

  set.add({"cache.enabled", &cache_enabled,
           "Whether keys are served from local copies. If false, hot keys are only found."});
  set.add({.name = "cache.admission",
           .target = choice_of(admission),
           .help = "Which keys get local copies (docs/guides/copies.md). "
                   "pays: those whose copies save the server more than they cost it, "
                   "whatever their rate; hot: hot keys only.",
           .choices = {"pays", "hot"}});
  set.add({.name = "cache.level",
           .target = choice_of(level),
           .help = "Consistency of local copies (docs/guides/consistency.md). "
                   "off keeps no copies; ttl bounds only their age, by expire-after-write; "
                   "key bounds the staleness of each key, by max-staleness; "
                   "session also keeps order across the keys that one connection reads.",
           .choices = {"off", "ttl", "key", "session"}});
  set.add({"cache.maximum-size", &maximum_size,
           "Maximum number of keys with local copies. "
           "A key has up to 8 copies, one for each read command with its arguments. "
           "Each takes about 300 bytes besides its copies.",
           1, 1'000'000});
  set.add({"cache.maximum-bytes", &maximum_bytes, "Maximum total size of local copies.",
           bytes(kibibytes(64)), bytes(Bytes{64ULL << 30})});
  set.add({"cache.maximum-value-bytes", &maximum_value_bytes, "A larger value is never cached.", 1,
           bytes(mebibytes(16))});
  set.add({"cache.maximum-nil", &maximum_nil,
           "Maximum number of local copies that say \"no such key\".", 0, 4096});
  set.add({"cache.maximum-tracked-keys", &maximum_tracked_keys,
           "Maximum number of keys that the server tracks for the proxy. "
           "Further hot keys get no copies. The server tracks a key until it changes. "
           "This proxy and all clients that use tracking "
           "share the server's tracking-table-max-keys (default 1000000).",
           1, 10'000'000});
  set.add({"cache.server-weight", &server_weight,
           "How many seconds of this proxy's CPU time one of the server's is worth, "
           "for the choice of what gets a copy. 1: copies that take less of both together. "
           "More: copies spare the server even where they take the proxy more.",
           0.1, 100});
  set.add({"cache.wait-weight", &wait_weight,
           "How many seconds of this proxy's CPU it is worth "
           "that a read waits a second longer for a copy than for the server. 0: only CPU counts.",
           0, 1});
  set.add(
      {"cache.warm-share", &warm_share,
       "Maximum share of maximum-size and maximum-bytes for warmed keys (heatsink warm, warming).",
       0, 1});
  set.add(
      {"cache.expire-after-write", &expire_after_write,
       "Maximum lifetime of a local copy, even if the key has no TTL and no invalidation arrives.",
       ns(milliseconds(10)), ns(hours(1))});
  set.add({"cache.max-staleness", &max_staleness,
           "At levels key and session, "
           "no copy is served without proof from the server within this time. "
           "This limit also holds when the server hangs or the network is cut.",
           kStalenessMin, kStalenessMax});
  set.add({"cache.maximum-waiters", &maximum_waiters,
           "Maximum number of clients per worker that wait for the same fill. "
           "Others read from the server.",
           0, 100'000});
  set.add({"cache.heartbeat-interval", &heartbeat_interval,
           "How often the server proves that it still sends invalidations. "
           "At most half of max-staleness.",
           ns(milliseconds(5)), ns(seconds(30))});
  set.add({"cache.acl-staleness", &acl_staleness,
           "Maximum time for which a user still gets copies of a key "
           "after losing the right to read it. "
           "The proxy asks the server for permissions twice in this time.",
           ns(milliseconds(100)), ns(hours(1))});
  set.add(at_start({"cache.heartbeat-key", &heartbeat_key,
                    "Key that the heartbeat reads (EXISTS). It need not exist."}));

  set.add({"refresh.enabled", &refresh_enabled,
           "Whether copies that clients read are renewed before they expire, "
           "so that no reader waits. "
           "It concerns copies that end with expire-after-write (docs/guides/copies.md)."});
  set.add({"refresh.interval", &refresh_interval,
           "How often the proxy looks for copies that are due for renewal.", ns(milliseconds(5)),
           ns(seconds(10))});
  set.add({"refresh.ahead", &refresh_ahead,
           "A copy is renewed when this share of its lifetime, or up to twice as much, is left. "
           "Each copy draws its own share at random, "
           "so that copies of the same age are not renewed together.",
           0.01, 0.45});
  set.add({"refresh.max-failures", &refresh_failures_max,
           "After this many failures in a row, a copy is left to expire; "
           "then its next reader asks the server.",
           1, 100});

  set.add({"audit.sample-rate", &audit_rate,
           "Share of local hits that are compared with the server afterwards. 0%: none. "
           "The comparisons use a separate connection, in a cluster one to each master.",
           0, 1});
  set.add(
      {"audit.maximum-rate", &audits_per_second,
       "Maximum number of such comparisons per second. Each costs the server two small commands.",
       1, 1000});

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
           0, ns(seconds(1))});
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
