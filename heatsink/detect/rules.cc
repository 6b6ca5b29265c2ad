// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/detect/key_pattern.h"

namespace heatsink::detect {
namespace {

// Part of a window: once a whole window is covered, a rate is counted over at least 0.9 windows,
// and the part of a burst that was seen before is at most a quarter of it.
constexpr double kCoveredMin = 0.9;
constexpr double kBurstSeenBefore = 0.25;

// A key is tracked from floor / kFloorToTrack on.
constexpr std::uint64_t kFloorToTrack = 4;

bool may_burst(const Rule& rule, double burst) { return burst > 0 && rule.confirm_windows == 1; }

// The accesses of a key with this rate in the window; at least 1.
std::uint64_t count_in(const Measure& measure, double rate) {
  const double seconds = std::chrono::duration<double>(measure.window).count();
  constexpr double kCountMax = 1e18;
  return static_cast<std::uint64_t>(std::clamp(std::floor(rate * seconds), 1.0, kCountMax));
}

// The lowest of some thresholds, whatever the traffic: a rate, and a part of all traffic.
struct Least {
  void take(double of_rate, double of_part, double factor) {
    rate = std::min(rate, of_rate * factor);
    part = std::min(part, of_part * factor);
  }
  double rate = std::numeric_limits<double>::max();
  double part = 1;
};

// "3000", "1000000", "0.5"
std::string number_text(double value) {
  std::array<char, 48> digits{};
  char* const begin = digits.data();
  return {begin, std::to_chars(begin, begin + digits.size(), value, std::chars_format::fixed).ptr};
}

bool is_part(double value) { return value >= 0 && value <= 1; }

// A sentence with the wrong field and its valid values; "" if all are valid.
std::string fault_of(const Rule& rule) {
  const std::size_t bytes = rule.match.size();
  if (bytes == 0) return "match is empty: write a key, a prefix as in user:*, or * for all keys";
  if (bytes > kPatternBytesMax) {
    return fmt::format("match has {} bytes: write at most {}", bytes, kPatternBytesMax);
  }
  if (rule.measure.window <= Nanos(0)) return "window must be longer than 0";
  if (!std::isfinite(rule.hot) || rule.hot <= 0) return "hot must be a number above 0";
  if (!std::isfinite(rule.warm) || rule.warm < 0) return "warm must be 0 or a number above 0";
  if (rule.warm > rule.hot) {
    return fmt::format("hot {:g} is below warm {:g}: raise hot or lower warm", rule.hot, rule.warm);
  }
  if (!is_part(rule.hot_part) || !(rule.warm_part >= 0 && rule.warm_part <= rule.hot_part)) {
    return "hot-part and warm-part must be parts of 1, the second not above the first";
  }
  if (!is_part(rule.hot_share)) return "hot-share must be from 0 % to 100 %";
  if (!is_part(rule.demote_ratio)) return "demote-ratio must be from 0 to 1";
  if (rule.confirm_windows == 0) return "confirm-windows must be at least 1";
  if (rule.minimum_residence < Nanos(0)) return "minimum-residence must not be negative";
  if (!(rule.write_hot_ratio >= 0)) return "write-hot-ratio must be 0 or a number above 0";
  return "";
}

std::string title_of(const Rule& rule) {
  return rule.name.empty() ? "the default rule"
                           : fmt::format("rule \"{}\"", printable(rule.name, 64));
}

}  // namespace

// The rules by the kind of their pattern. Numbers are indexes into `rules`.
struct RuleSet::Index {
  explicit Index(std::vector<Rule> all);
  void add_measure(const Measure& measure);
  void add_pattern(std::size_t number);
  void order();
  const Rule& of(std::string_view key, bool is_whole) const;

  struct Prefix {
    std::string head;
    std::size_t rule;
    // index of the longest other prefix that this one begins with
    std::optional<std::size_t> parent;
  };
  struct Glob {
    KeyPattern pattern;
    std::size_t rule;
  };
  struct NameHasher {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };
  const Prefix* longest_prefix(std::string_view key) const;

  std::vector<Rule> rules;
  std::vector<Measure> measures;
  std::unordered_map<std::string, std::size_t, NameHasher, std::equal_to<>> names;
  std::vector<Prefix> prefixes;  // by name
  std::vector<Glob> globs;       // by precedence
};

RuleSet::Index::Index(std::vector<Rule> all) : rules(std::move(all)) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    add_measure(rules[i].measure);
    if (i > 0) add_pattern(i);
  }
  order();
}

void RuleSet::Index::add_measure(const Measure& measure) {
  if (std::find(measures.begin(), measures.end(), measure) == measures.end()) {
    measures.push_back(measure);
  }
}

void RuleSet::Index::add_pattern(std::size_t number) {
  KeyPattern pattern(rules[number].match);
  switch (pattern.kind()) {
    case KeyPattern::Kind::kExact:
      names[pattern.head()] = number;
      break;
    case KeyPattern::Kind::kPrefix:
      prefixes.push_back({pattern.head(), number, std::nullopt});
      break;
    case KeyPattern::Kind::kGlob:
      globs.push_back({std::move(pattern), number});
      break;
  }
}

void RuleSet::Index::order() {
  // For equal prefixes the last one counts.
  std::stable_sort(prefixes.begin(), prefixes.end(),
                   [](const Prefix& a, const Prefix& b) { return a.head < b.head; });
  const auto earlier_equals =
      std::unique(prefixes.rbegin(), prefixes.rend(),
                  [](const Prefix& a, const Prefix& b) { return a.head == b.head; });
  prefixes.erase(prefixes.begin(), earlier_equals.base());
  // A prefix of this prefix is sorted before it: it is the predecessor, or a prefix of the
  // predecessor.
  for (std::size_t i = 1; i < prefixes.size(); ++i) {
    std::optional<std::size_t> parent = i - 1;
    while (parent && !prefixes[i].head.starts_with(prefixes[*parent].head)) {
      parent = prefixes[*parent].parent;
    }
    prefixes[i].parent = parent;
  }
  std::sort(globs.begin(), globs.end(), [](const Glob& a, const Glob& b) {
    const std::size_t x = a.pattern.literal_bytes();
    const std::size_t y = b.pattern.literal_bytes();
    return x != y ? x > y : a.rule > b.rule;
  });
}

const RuleSet::Index::Prefix* RuleSet::Index::longest_prefix(std::string_view key) const {
  const auto behind = std::upper_bound(
      prefixes.begin(), prefixes.end(), key,
      [](std::string_view name, const Prefix& prefix) { return name < prefix.head; });
  if (behind == prefixes.begin()) return nullptr;
  const Prefix* candidate = &*std::prev(behind);
  const auto differs =
      std::mismatch(candidate->head.begin(), candidate->head.end(), key.begin(), key.end());
  const auto common = static_cast<std::size_t>(differs.first - candidate->head.begin());
  while (candidate->head.size() > common) {
    if (!candidate->parent) return nullptr;
    candidate = &prefixes[*candidate->parent];
  }
  return candidate;
}

const Rule& RuleSet::Index::of(std::string_view key, bool is_whole) const {
  if (is_whole && !names.empty()) {  // without exact names, spares hashing the key
    if (const auto named = names.find(key); named != names.end()) return rules[named->second];
  }
  const Prefix* const prefix = longest_prefix(key);
  if (is_whole) {
    for (const Glob& glob : globs) {
      if (prefix != nullptr && glob.pattern.literal_bytes() <= prefix->head.size()) break;
      if (glob.pattern.matches(key)) return rules[glob.rule];
    }
  }
  return rules[prefix == nullptr ? 0 : prefix->rule];
}

void set_thresholds(Rule& rule, std::optional<double> hot, std::optional<double> warm) {
  rule.hot = hot.value_or(kAutomaticHotRate);
  rule.hot_part = hot ? 0 : kAutomaticHotPart;
  rule.warm = std::min(warm.value_or(rule.hot * kAutomaticWarm), rule.hot);
  rule.warm_part = warm ? 0 : rule.hot_part * kAutomaticWarm;
}

void divide_thresholds(Rule& rule, std::uint64_t instances) {
  rule.fleet_size = instances;
  rule.hot /= static_cast<double>(instances);
  rule.warm /= static_cast<double>(instances);
}

std::string hot_qps_words(std::optional<double> hot) {
  if (hot) return fmt::format("{}/s (detection.hot-qps)", number_text(*hot));
  return automatic_words() + " (hot-qps: auto)";
}

std::string automatic_words() {
  return fmt::format("{:g} % of the traffic and {:g}/s", kAutomaticHotPart * 100,
                     kAutomaticHotRate);
}

Thresholds thresholds(const Rule& rule, const Summary& window) {
  const double seconds = window.seconds();
  const double all = seconds > 0 ? static_cast<double>(window.total()) / seconds : 0;
  return {std::max(rule.hot, rule.hot_part * all), std::max(rule.warm, rule.warm_part * all)};
}

Status check(const Rule& rule) {
  if (std::string fault = fault_of(rule); !fault.empty()) {
    return invalid_argument(std::move(fault));
  }
  return Unit{};
}

RuleSet::RuleSet() : RuleSet(Rule{}) {}

RuleSet::RuleSet(const Rule& base) : RuleSet(std::vector<Rule>{base}) { assert(check(base).ok()); }

RuleSet::RuleSet(std::vector<Rule> rules)
    : index_(std::make_shared<const Index>(std::move(rules))) {}

Result<RuleSet> RuleSet::make(Rule base, std::vector<Rule> rules) {
  if (rules.size() > kRulesMax) {
    return Error{ErrorCode::kOutOfRange,
                 fmt::format("there are {} rules: use at most {}", rules.size(), kRulesMax)};
  }
  for (Rule& rule : rules) {
    if (rule.name.empty()) rule.name = rule.match;
  }
  rules.insert(rules.begin(), std::move(base));
  for (const Rule& rule : rules) {
    if (const Status status = check(rule); !status.ok()) {
      return Error{status.error().code, title_of(rule) + ": " + status.error().message};
    }
  }
  RuleSet made(std::move(rules));
  if (const std::size_t count = made.measures().size(); count > kMeasuresMax) {
    return Error{
        ErrorCode::kOutOfRange,
        fmt::format("the rules have {} different pairs of window and dimension: use at most {}",
                    count, kMeasuresMax)};
  }
  return made;
}

const Rule& RuleSet::of(std::string_view key, bool is_whole) const {
  return index_->of(key, is_whole);
}

std::span<const Rule> RuleSet::rules() const { return index_->rules; }

std::span<const Measure> RuleSet::measures() const { return index_->measures; }

std::size_t RuleSet::measure_of(const Rule& rule) const {
  const auto found = std::find(index_->measures.begin(), index_->measures.end(), rule.measure);
  assert(found != index_->measures.end());
  return static_cast<std::size_t>(found - index_->measures.begin());
}

std::size_t RuleSet::index_of(const Rule& rule) const {
  const auto place = static_cast<std::size_t>(&rule - index_->rules.data());
  assert(place < index_->rules.size());
  return place;
}

CountLevel RuleSet::floor(std::size_t measure, double burst) const {
  const Measure& wanted = index_->measures[measure];
  Least least;
  for (const Rule& rule : index_->rules) {
    if (rule.measure != wanted) continue;
    least.take(rule.warm, rule.warm_part, rule.demote_ratio);
    if (may_burst(rule, burst)) least.take(rule.hot, rule.hot_part, burst * kBurstSeenBefore);
  }
  return {count_in(wanted, least.rate * kCoveredMin), least.part * kCoveredMin};
}

RuleSet::ShardCounts RuleSet::shard_counts(std::size_t measure, double burst,
                                           std::size_t shards) const {
  const Measure& wanted = index_->measures[measure];
  const auto part_of = [](std::uint64_t count, std::uint64_t parts) {
    return std::max<std::uint64_t>(count / parts, 1);
  };
  Least least;
  for (const Rule& rule : index_->rules)
    if (rule.measure == wanted)
      least.take(rule.hot, rule.hot_part, may_burst(rule, burst) ? burst : 1);
  CountLevel all = floor(measure, burst);
  // A key may be below the fixed level in some shards and below the part in the others: halves of
  // both add up to no more than the larger one.
  if (shards > 1 && all.part > 0) all = {part_of(all.least, 2), all.part / 2};
  const CountLevel part{part_of(all.least, shards), all.part};
  return {.floor = part,
          .urgent_count = {count_in(wanted, least.rate / static_cast<double>(shards)), least.part},
          .worth_tracking = {part.least / kFloorToTrack, part.part / kFloorToTrack}};
}

}  // namespace heatsink::detect
