// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/rule_options.h"

#include <chrono>

#include "heatsink/proxy/option_bounds.h"

namespace heatsink::proxy {

void RuleOptions::describe(OptionSet& set) {
  describe_detection(set);
  describe_copies(set);
  describe_limit(set);
}

void RuleOptions::describe_detection(OptionSet& set) {
  set.add({.name = "match",
           .target = &match,
           .help =
               "The keys it is for: an exact name, a prefix (\"user:*\") or a glob of ? * [a-z] "
               "\\; of the rules that match a key the longest counts."});
  set.add({"window", &window, "Length of the sliding window.", kWindowMin, kWindowMax});
  set.add({.name = "dimension",
           .target = &dimension,
           .help = "What is counted: accesses, bytes of values, writes, or reads that the server "
                   "answered; rules may have 4 different pairs of window and dimension, that of "
                   "detection.* included.",
           .choices = {"requests", "bytes", "writes", "misses", std::string(kInherit)}});
  set.add({"hot-qps", &hot_qps,
           "A key with at least so many per second is hot; not for dimension bytes.", kRateMin,
           kRateMax});
  set.add({"warm-qps", &warm_qps,
           "A key with at least so many per second is warm; inherit: at most hot-qps.", 0,
           kRateMax});
  set.add(
      {"hot-bytes", &hot_bytes,
       "For dimension bytes, instead of hot-qps: a key with at least so many bytes per second is "
       "hot.",
       kByteRateMin, kByteRateMax});
  set.add({"warm-bytes", &warm_bytes,
           "For dimension bytes, instead of warm-qps; inherit: at most hot-bytes.", 0,
           kByteRateMax});
  set.add(
      {"hot-share", &hot_share,
       "A warm key with at least this part of the node's traffic, in the dimension, is hot; 0%: "
       "the share does not matter.",
       0, 1});
  set.add({"confirm-windows", &confirm_windows,
           "Consecutive windows above the threshold before a key is promoted; 1: at once.", 1,
           100});
  set.add({"demote-ratio", &demote_ratio,
           "A hot key stays hot until it falls below its threshold times this.", 0, 1});
  set.add({"minimum-residence", &minimum_residence, "A promoted key stays hot at least so long.", 0,
           kResidenceMax});
  set.add({"write-hot-ratio", &write_hot_ratio,
           "A hot key with fewer reads than this per write is write-hot, and not cached.", 0, 1e6});
}

void RuleOptions::describe_copies(OptionSet& set) {
  set.add({.name = "level",
           .target = &level,
           .help = "What is promised of local copies (docs/guides/consistency.md); off: none are "
                   "kept.",
           .choices = {"off", "ttl", "key", "session", std::string(kInherit)}});
  set.add({"max-staleness", &max_staleness,
           "Hard bound, at the levels key and session: without proof from the server within this "
           "time no local copy is served; at least twice cache.heartbeat-interval.",
           kStalenessMin, kStalenessMax});
  set.add({"coalesce", &coalesce,
           "Writes (SET, INCR, DECR and their like) that follow one to the same key within this "
           "time are gathered, reach the server as one, and are answered when it has been; 0: each "
           "goes by itself (docs/guides/coalesce.md).",
           0, kCoalesceMax});
  set.add({.name = "refresh",
           .target = &refresh,
           .help = "Whether copies that are read are renewed ahead of time (refresh.enabled).",
           .choices = {"on", "off", std::string(kInherit)}});
  set.add(
      {"stale-while-error", &stale_while_error,
       "At level key, and leaving it: while the server cannot be reached, a copy is served up to "
       "so long after its last proof, never past its value's own TTL; inherit: it is not.",
       kStalenessMin, kStaleWhileErrorMax});
}

void RuleOptions::describe_limit(OptionSet& set) {
  set.add({"limit.rate", &limit_rate,
           "The most that is let through, as 5000/s, 100/10s or 1/h; what is over it is answered "
           "with an error (docs/guides/limits.md); without it there is no limit."});
  set.add({"limit.burst", &limit_burst,
           "So many at once; of a leaky bucket: so many in its queue; inherit: what the rate gives "
           "in a second. Not for windows.",
           1, kBurstMax});
  set.add({.name = "limit.algorithm",
           .target = &limit_algorithm,
           .help =
               "How the rate is kept: a burst, then the rate; so many in each window or in any; "
               "evenly, one behind the other.",
           .choices = {"token-bucket", "fixed-window", "sliding-window", "leaky-bucket"}});
  set.add({.name = "limit.of",
           .target = &limit_of,
           .help = "What counts: accesses that the server has to answer, all (local hits too), or "
                   "those that may change a key.",
           .choices = {"upstream", "all", "writes"}});
  set.add({.name = "limit.per",
           .target = &limit_per,
           .help = "Whose rate it is: each key's, each client's (its address), or that of all keys "
                   "of the rule together.",
           .choices = {"key", "client", "prefix"}});
  set.add({.name = "limit.over",
           .target = &limit_over,
           .help = "What becomes of a command that is over it: an error, a wait for its turn, or, "
                   "of a read, the local copy even if it may be stale.",
           .choices = {"reject", "delay", "stale"}});
  set.add({"limit.delay-max", &limit_delay_max,
           "With over: delay, the longest wait; whoever would wait longer is refused; inherit: 1s.",
           kDelayMin, kDelayMax});
  set.add(
      {"limit.stale-max", &limit_stale_max,
       "With over: stale, the oldest copy that is given, by when it was asked for; inherit: ten "
       "times max-staleness.",
       kStalenessMin, kStaleMax});
}

}  // namespace heatsink::proxy
