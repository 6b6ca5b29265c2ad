// SPDX-License-Identifier: Apache-2.0
// Finds the rule of a key, and so the thresholds that it is judged by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/measure.h"

namespace heatsink::detect {

inline constexpr std::size_t kRulesMax = 1000;         // besides the default
inline constexpr std::size_t kPatternBytesMax = 1024;  // no more of a key's name is known

// Rates are per second, in the unit of the measure's dimension, over the measure's window.
struct Rule {
  // The keys it is for: an exact name, a prefix ("user:*") or a glob (key_pattern.h).
  std::string match = "*";
  Measure measure{};
  double hot = 3000;  // > 0; hot at this rate ...
  double warm = 500;  // 0 .. hot
  // ... or at this part (0 .. 1) of the node's traffic in the dimension, if the rate is at least
  // `warm`; 0: only the rate counts.
  double hot_share = 0;
  // Window lengths above the threshold without a gap before a promotion, the first counted (1: at
  // once).
  std::uint32_t confirm_windows = 1;
  // Hysteresis, 0 .. 1: hot until rate and share fall below their thresholds x this.
  double demote_ratio = 0.8;
  // A hot key stays at least so long, unless it becomes write-hot.
  Nanos minimum_residence = std::chrono::seconds(10);
  // Fewer reads than this per write: write-hot, caching would be a loss.
  double write_hot_ratio = 10;
  // How a verdict calls the rule; "" is the default's. A rule without one is called as it matches.
  std::string name{};
};

// What cannot be about one rule, in a sentence that names the field; `match` is looked at too.
Status check(const Rule& rule);

// A default rule and the rules for names. A key has one rule: of those that match the one with the
// most literal bytes; of equals an exact name before a prefix before a glob; then the later one.
// Immutable, so any number of threads may ask; copies share what they hold.
class RuleSet {
 public:
  RuleSet();  // the default of Rule alone
  // One rule for all keys, whatever `base.match` says. REQUIRES: check(base).ok().
  explicit RuleSet(const Rule& base);
  // Errors: what check() finds in one of them, more than kRulesMax rules, more than kMeasuresMax
  // different measures.
  static Result<RuleSet> make(Rule base, std::vector<Rule> rules);

  // The rule of a key. Of a truncated name (`is_whole` false) only prefixes are known to match. An
  // exact name costs one look-up, a prefix a binary search; then each glob that would win is tried.
  const Rule& of(std::string_view key, bool is_whole = true) const;

  std::span<const Rule> rules() const;  // the default first, then as they were given
  // The different measures, the default's first: what has to be counted.
  std::span<const Measure> measures() const;
  std::size_t measure_of(
      const Rule& rule) const;  // its place among measures(); rule is of this set
  // Its place among rules(), for whoever has more to say of a rule's keys; rule is of this set.
  std::size_t place_of(const Rule& rule) const;

  // A key with fewer than this in the window of a measure (by its place) is cold under each rule of
  // it, and no step of a burst (selector.h): it need not be in a summary. Shards of one traffic
  // share it. 1 at least.
  std::uint64_t floor(std::size_t measure, double burst) const;

  // What each of `shards` (at least 1) recorders of one traffic is told of a measure (by its
  // place).
  struct ShardCounts {
    std::uint64_t floor;         // for summarize()
    std::uint64_t urgent_count;  // its part of what makes a key hot, or of a burst's beginning
    std::uint64_t
        worth_tracking;  // early enough that little is missed when a key reaches the floor
  };
  ShardCounts shard_counts(std::size_t measure, double burst, std::size_t shards) const;

 private:
  struct Index;
  explicit RuleSet(std::vector<Rule> rules);
  std::shared_ptr<const Index> index_;
};

}  // namespace heatsink::detect
