// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/rule_options.h"

#include <chrono>

#include "heatsink/proxy/option_bounds.h"

namespace heatsink::proxy {

void RuleOptions::describe(OptionSet& set) {
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
  set.add({.name = "level",
           .target = &level,
           .help = "What is promised of local copies (docs/guides/consistency.md); off: none are "
                   "kept.",
           .choices = {"off", "ttl", "key", "session", std::string(kInherit)}});
  set.add({"max-staleness", &max_staleness,
           "Hard bound, at the levels key and session: without proof from the server within this "
           "time no local copy is served; at least twice cache.heartbeat-interval.",
           kStalenessMin, kStalenessMax});
}

}  // namespace heatsink::proxy
