// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/upstream_options.h"

#include <chrono>

#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {

// NOLINTNEXTLINE(readability-function-size): a table, a row per option
void UpstreamOptions::describe(OptionSet& set) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;

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
  set.add(
      at_start({"upstream.sentinel-password-file", &sentinel_password_file,
                "With redis+sentinel://: file whose first line is the password of the Sentinels. "
                "Empty: they have none. The password in upstream.url is that of the servers."}));
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
           bound(milliseconds(10)), bound(minutes(1))});
  set.add({"upstream.response-timeout", &response_timeout,
           "Maximum silence on a connection to the server that owes a reply. "
           "Then the proxy resets it. The server may still execute what it has received. "
           "This covers shared connections, and the TLS handshake and login of new ones. "
           "Each reply must be complete within ten times this time.",
           bound(milliseconds(100)), bound(hours(1))});
  set.add({"upstream.slot-stats-interval", &slot_stats_interval,
           "How often the proxy asks each master of a cluster for CLUSTER SLOT-STATS. "
           "It asks only while somebody reads the load of slots (admin API, metrics). "
           "In a fleet: this times the number of proxies. 0: never.",
           0, bound(hours(1))});
  set.add({.name = "upstream.on-down",
           .target = choice_of(on_down),
           .help = "What a command gets that the server cannot answer: "
                   "the end of the client's connection, or an error. "
                   "The server is unreachable, or the connection was lost. "
                   "Most client libraries retry after a closed connection. "
                   "Errors begin with LOADING if the command was not executed, "
                   "and with IOERR if it may have been.",
           .choices = {"close", "error"}});
  set.add({"upstream.connect-wait", &connect_wait,
           "How long requests wait for a server that is away, "
           "so that a restart of the server is a delay and no failure. "
           "The time begins with the first request that finds no server. "
           "After it, requests fail at once until the server is back. "
           "At most one request of each client waits, within proxy.maximum-memory. 0: none.",
           0, bound(seconds(30))});
  set.add(
      {"upstream.backoff-min", &backoff_min,
       "Pause before the second connection attempt. "
       "The pause then doubles, up to upstream.backoff-max. Commands do not wait for the pause: "
       "while clients send commands, the proxy tries every 10 ms, "
       "or every upstream.backoff-min if the server refuses its login.",
       bound(milliseconds(1)), bound(minutes(1))});
  set.add({"upstream.backoff-max", &backoff_max, "Longest pause between connection attempts.",
           bound(milliseconds(1)), bound(minutes(5))});
}

}  // namespace heatsink::policy
