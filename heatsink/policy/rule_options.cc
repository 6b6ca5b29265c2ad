// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/rule_options.h"

#include <array>
#include <chrono>
#include <vector>

#include "heatsink/detect/rules.h"
#include "heatsink/policy/option_bounds.h"
#include "heatsink/spread/spread.h"

namespace heatsink::policy {
namespace {

using Words = std::array<std::string_view, 3>;

constexpr Words kReads = {"master", "replicas", "all"};
constexpr Words kPer = {"key", "client", "prefix"};
constexpr Words kOver = {"reject", "delay", "stale"};

std::vector<std::string> words_of(const Words& words) { return {words.begin(), words.end()}; }

}  // namespace

std::string_view to_string(ReadsFrom from) { return kReads.at(static_cast<std::size_t>(from)); }
std::string_view to_string(LimitPer per) { return kPer.at(static_cast<std::size_t>(per)); }
std::string_view to_string(LimitOver over) { return kOver.at(static_cast<std::size_t>(over)); }

void RuleOptions::describe(OptionSet& set) {
  describe_detection(set);
  describe_copies(set);
  describe_replicas(set);
  describe_limit(set);
  describe_spread(set);
}

void RuleOptions::describe_detection(OptionSet& set) {
  set.add({.name = "match",
           .target = &match,
           .help = "Keys of the rule: an exact name, "
                   "a prefix (\"user:*\") or a glob (?, *, [a-z], \\ before a literal character). "
                   "If several rules match a key, the one with the most literal bytes applies."});
  set.add({"window", &window, "Length of the sliding window.", kWindowMin, kWindowMax});
  set.add({.name = "dimension",
           .target = dimension.place(),
           .help = "What is counted, as in detection.dimension. "
                   "All rules and detection together may have "
                   "at most 4 different pairs of window and dimension.",
           .choices = {"requests", "bytes", "writes", "misses", std::string(kInherit)}});
  set.add(
      {"hot-qps", &hot_qps,
       "A key is hot from this many accesses (writes, misses) per second. Not for dimension bytes.",
       kRateMin, kRateMax});
  set.add({"warm-qps", &warm_qps,
           "A key is warm from this many per second. inherit: detection.warm-qps, at most hot-qps. "
           "Not for dimension bytes.",
           0, kRateMax});
  set.add({"hot-bytes", &hot_bytes,
           "For dimension bytes, instead of hot-qps: a key is hot from this many bytes per second.",
           kByteRateMin, kByteRateMax});
  set.add({"warm-bytes", &warm_bytes,
           "For dimension bytes, instead of warm-qps. "
           "inherit: detection.warm-bytes, at most hot-bytes.",
           0, kByteRateMax});
  set.add(deprecated(kInsteadOfShare,
                     {"hot-share", &hot_share,
                      "A warm key is hot from this share of the proxy's traffic in the dimension. "
                      "0%: the share does not count.",
                      0, 1}));
  set.add(deprecated(
      detect::kInsteadOfConfirming,
      {"confirm-windows", &confirm_windows,
       "Consecutive windows above the threshold before a key becomes hot. 1: no wait.", 1, 100}));
  set.add({"demote-ratio", &demote_ratio,
           "A hot key stays hot until it falls below this times its threshold.", 0, 1});
  set.add({"minimum-residence", &minimum_residence, "Minimum time that a key stays hot.", 0,
           kResidenceMax});
  set.add({"write-hot-ratio", &write_hot_ratio,
           "A hot key with fewer reads per write than this is write-hot, and not cached.", 0, 1e6});
}

void RuleOptions::describe_copies(OptionSet& set) {
  set.add({.name = "admission",
           .target = admission.place(),
           .help = "Which of the rule's keys get local copies, as in cache.admission. off: none.",
           .choices = {"pays", "hot", "off", std::string(kInherit)}});
  set.add({.name = "level",
           .target = level.place(),
           .help = "Consistency of local copies, as in cache.level. off: no copies. "
                   "See docs/guides/consistency.md.",
           .choices = {"off", "ttl", "key", "session", std::string(kInherit)}});
  set.add({"max-staleness", &max_staleness,
           "At levels key and session, "
           "no copy is served without proof from the server within this time. "
           "It must be at least twice cache.heartbeat-interval. "
           "This limit also holds when the server hangs or the network is cut.",
           kStalenessMin, kStalenessMax});
  set.add({"coalesce", &coalesce,
           "Writes that follow one to the same key within this time become one write. 0: off. "
           "Their clients get their replies when the server has answered that write. "
           "It applies to SET, INCR, DECR and similar commands (docs/guides/relief.md).",
           0, kCoalesceMax});
  set.add({.name = "refresh",
           .target = refresh.place(),
           .help = "Whether copies that clients read are renewed ahead of time (refresh.enabled).",
           .choices = {"on", "off", std::string(kInherit)}});
  set.add({.name = "client-tracking",
           .target = client_tracking.place(),
           .help = "Whether clients with caches of their own keep the rule's keys, "
                   "with proxy.client-tracking: pays. "
                   "pays: they keep what a local copy has answered. "
                   "off: they forget such a key right behind each reply.",
           .choices = {"off", "pays", std::string(kInherit)}});
  set.add({"stale-while-error", &stale_while_error,
           "While the server is unreachable, a copy is served this long after its last proof. "
           "inherit: off. The rule must have level key, whose guarantee it relaxes. "
           "The value's own TTL still ends the copy.",
           kStalenessMin, kStaleWhileErrorMax});
}

void RuleOptions::describe_replicas(OptionSet& set) {
  set.add({.name = "reads",
           .target = choice_of(reads),
           .help = "Which servers answer reads of the rule's hot keys. "
                   "replicas: those within replica-lag, or else the master; all: the master, too. "
                   "The rule must have level off or ttl (docs/guides/replica-reads.md).",
           .choices = words_of(kReads)});
  set.add({"replica-lag", &replica_lag,
           "How old the data of a replica that answers may be, at most. inherit: 1s. "
           "A replica that does not prove it within this time is not read. "
           "The proxy asks the servers four times in it.",
           kReplicaLagMin, kReplicaLagMax});
}

void RuleOptions::describe_limit(OptionSet& set) {
  set.add({"limit.rate", &limit_rate,
           "Maximum rate, as in 5000/s, 100/10s or 1/h. Empty: no limit. "
           "limit.over says what happens to commands above the rate (docs/guides/limits.md)."});
  set.add({"limit.burst", &limit_burst,
           "Accesses allowed at once. inherit: one second's worth of the rate. For leaky-bucket, "
           "this is the length of its queue. Windows have no burst.",
           1, kBurstMax});
  set.add({.name = "limit.algorithm",
           .target = choice_of(limit_algorithm),
           .help = "How the rate is enforced. token-bucket allows a burst, then the rate; "
                   "fixed-window, so many in each window of the clock; "
                   "sliding-window, so many in any window; "
                   "leaky-bucket, one after the other, evenly.",
           .choices = {"fixed-window", "sliding-window", "leaky-bucket", "token-bucket"}});
  set.add({.name = "limit.of",
           .target = choice_of(limit_of),
           .help = "Which accesses count. upstream counts those that the server has to answer; "
                   "all counts local hits, too; writes counts those that may change a key.",
           .choices = {"upstream", "all", "writes"}});
  set.add({.name = "limit.per",
           .target = choice_of(limit_per),
           .help = "Scope of the rate: each key, each client (by its address), "
                   "or all keys of the rule together.",
           .choices = words_of(kPer)});
  set.add({.name = "limit.scope",
           .target = choice_of(limit_scope),
           .help = "Whose accesses share the rate. proxy: those of each proxy by itself; "
                   "fleet: those of all proxies with the same fleet.name (docs/guides/fleet.md). "
                   "fleet needs token-bucket or sliding-window, and over: reject or stale.",
           .choices = {"proxy", "fleet"}});
  set.add({.name = "limit.over",
           .target = choice_of(limit_over),
           .help = "What happens to a command above the rate. "
                   "With reject, it gets an error; with delay, it waits for its turn; with stale, "
                   "a read gets the local copy even if that may be stale, or else an error.",
           .choices = words_of(kOver)});
  set.add({"limit.delay-max", &limit_delay_max,
           "With over: delay, the longest wait. A command that would wait longer is refused. "
           "inherit: 1s.",
           kDelayMin, kDelayMax});
  set.add({"limit.stale-max", &limit_stale_max,
           "With over: stale, the maximum age of a copy since its fill began. "
           "inherit means ten times max-staleness.",
           kStalenessMin, kStaleMax});
}

void RuleOptions::describe_spread(OptionSet& set) {
  const auto pieces_max = static_cast<double>(spread::kPiecesMax);
  set.add({"spread.copies", &spread_copies,
           "In front of a cluster: how many copies of each key of the rule stand on the nodes. "
           "GET reads one of them. For single hot keys that may have no local copies: "
           "the rule must have level: off (docs/guides/spread.md).",
           2, pieces_max});
  set.add({"spread.ttl", &spread_ttl,
           "The longest life of such a copy. "
           "A GET returns a value that the key had within this time, "
           "also if it was written past the proxy. inherit: 1s.",
           kSpreadTtlMin, kStalenessMax});
  set.add({"spread.parts", &spread_parts,
           "In front of a cluster: "
           "the keys of the rule are counters in so many parts on the nodes. "
           "INCR, INCRBY, DECR and DECRBY change one part and return the value of that part; "
           "GET returns the sum. All proxies need the same number; it may grow, "
           "but must never shrink. The rule must have level: off (docs/guides/spread.md).",
           2, pieces_max});
}

}  // namespace heatsink::policy
