// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/copy_options.h"

#include <chrono>

#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {

// NOLINTNEXTLINE(readability-function-size): a table, a row per option
void CopyOptions::describe(OptionSet& set) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::seconds;

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
           bound(kibibytes(64)), bound(Bytes{64ULL << 30})});
  set.add({"cache.maximum-value-bytes", &maximum_value_bytes, "A larger value is never cached.", 1,
           bound(mebibytes(16))});
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
       bound(milliseconds(10)), bound(hours(1))});
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
           bound(milliseconds(5)), bound(seconds(30))});
  set.add({"cache.acl-staleness", &acl_staleness,
           "Maximum time for which a user still gets copies of a key "
           "after losing the right to read it. "
           "The proxy asks the server for permissions twice in this time.",
           bound(milliseconds(100)), bound(hours(1))});
  set.add(at_start({"cache.heartbeat-key", &heartbeat_key,
                    "Key that the heartbeat reads (EXISTS). It need not exist."}));

  set.add({"refresh.enabled", &refresh_enabled,
           "Whether copies that clients read are renewed before they expire, "
           "so that no reader waits. "
           "It concerns copies that end with expire-after-write (docs/guides/copies.md)."});
  set.add({"refresh.interval", &refresh_interval,
           "How often the proxy looks for copies that are due for renewal.", bound(milliseconds(5)),
           bound(seconds(10))});
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
}

}  // namespace heatsink::policy
