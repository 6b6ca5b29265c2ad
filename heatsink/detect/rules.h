// SPDX-License-Identifier: Apache-2.0
// Finds the rule of a key, and with it the thresholds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

inline constexpr std::size_t kRulesMax = 1000;  // without the default
// longer patterns are refused: no more of a key's name is kept
inline constexpr std::size_t kPatternBytesMax = 1024;
// What the deprecated options say that set Rule::confirm_windows.
inline constexpr std::string_view kInsteadOfConfirming =
    "a verdict is proven by its window already; make the window longer.";

// Rates are per second, in the unit of the measure's dimension, over the measure's window.
struct Rule {
  // The keys of the rule: an exact name, a prefix ("user:*") or a glob (key_pattern.h).
  std::string match = "*";
  Measure measure{};
  double hot = 3000;  // > 0; hot at this rate ...
  double warm = 500;  // 0 .. hot
  // ... but at this part (0 .. 1) of the node's rate in the dimension, if that is more.
  double hot_part = 0;
  double warm_part = 0;  // 0 .. hot_part, in the same way
  // ... or at this part (0 .. 1) of the node's traffic in the dimension, if the rate is at least
  // `warm`; 0: only the rate counts.
  double hot_share = 0;
  // Window lengths that a key must be above the threshold, without a gap, before its promotion. The
  // first one counts (1: promote at once).
  std::uint32_t confirm_windows = 1;
  // Hysteresis, 0 .. 1: hot until rate and share fall below their thresholds x this.
  double demote_ratio = 0.8;
  // A hot key stays hot at least this long, unless it becomes write-hot.
  Nanos minimum_residence = std::chrono::seconds(10);
  // With fewer reads per write the key is write-hot: caching it would be a loss.
  double write_hot_ratio = 10;
  // The thresholds are those of so many instances, divided by their number.
  std::uint64_t fleet_size = 1;
  // The rule's name in verdicts; "" is the default rule's. A rule without a name is called by its
  // pattern.
  std::string name{};
};

// Hot, where a user names no rate: a key with at least this part of its node's
// traffic and at least this rate. So no more than a hundred keys rise to it at once, whatever the
// node can do, and on an idle node none does (docs/decisions/0035-hot-is-a-share-of-the-load.md).
inline constexpr double kAutomaticHotPart = 0.01;
inline constexpr double kAutomaticHotRate = 100;
// Warm, where a user names no rate, as a part of what is hot.
inline constexpr double kAutomaticWarm = 0.25;
// Sets hot and warm, with their parts. Nothing: automatic. Lowers `warm` to what is hot at least.
void set_thresholds(Rule& rule, std::optional<double> hot, std::optional<double> warm);
// For one of `instances` (at least 1) that share the traffic evenly and do not know each other's
// counts: divides hot and warm. Parts and shares stay, because they are of this one's traffic.
void divide_thresholds(Rule& rule, std::uint64_t instances);
// Words for `hot` of set_thresholds(): "3000/s (detection.hot-qps)", or for nothing
// "1 % of the traffic and 100/s (hot-qps: auto)". The automatic one alone.
std::string hot_qps_words(std::optional<double> hot);
std::string automatic_words();

// The thresholds of the rule under the traffic of a window: rates per second.
struct Thresholds {
  double hot = 0, warm = 0;
};
Thresholds thresholds(const Rule& rule, const Summary& window);

// The first invalid field of the rule, in a sentence; checks `match` too.
Status check(const Rule& rule);

// A default rule, and rules for names. Each key has one rule: the matching one with most literal
// bytes; among equals an exact name before a prefix before a glob; then the later one. Immutable:
// any number of threads may call it; copies share their content.
class RuleSet {
 public:
  RuleSet();  // only the default of Rule
  // One rule for all keys; ignores `base.match`. REQUIRES: check(base).ok().
  explicit RuleSet(const Rule& base);
  // Errors: an invalid rule (check()), more than kRulesMax rules, more than kMeasuresMax different
  // measures.
  static Result<RuleSet> make(Rule base, std::vector<Rule> rules);

  // The rule of a key. A truncated name (`is_whole` false) can match only prefixes. An exact name
  // costs one look-up and a prefix a binary search; then each glob that would win is tried.
  const Rule& of(std::string_view key, bool is_whole = true) const;

  std::span<const Rule> rules() const;  // the default first, then in the given order
  // The different measures that must be counted, the default's first.
  std::span<const Measure> measures() const;
  std::size_t measure_of(
      const Rule& rule) const;  // index in measures(); REQUIRES a rule of this set
  // Index in rules(), for data that other code keeps per rule. REQUIRES a rule of this set.
  std::size_t index_of(const Rule& rule) const;

  // A key with fewer accesses in the window of `measure` (an index in measures()) is cold under
  // each of its rules and no step of a burst (selector.h), so a summary need not list it. Holds for
  // all shards of one traffic together. At least 1.
  CountLevel floor(std::size_t measure, double burst) const;

  // The counts that each of `shards` (at least 1) recorders needs for a measure (an index in
  // measures()).
  struct ShardCounts {
    CountLevel floor;           // for summarize()
    CountLevel urgent_count;    // its part of a hot key's count, or of a burst's beginning
    CountLevel worth_tracking;  // low enough to miss little of a key that reaches the floor
  };
  ShardCounts shard_counts(std::size_t measure, double burst, std::size_t shards) const;

 private:
  struct Index;
  explicit RuleSet(std::vector<Rule> rules);
  std::shared_ptr<const Index> index_;
};

}  // namespace heatsink::detect
