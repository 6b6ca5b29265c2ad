// SPDX-License-Identifier: Apache-2.0
// The selector against the words of its contract, under whatever traffic: a slow judge beside it
// knows only what was told, and checks each step.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kKeysOfModel = 24;

struct Setting {
  SelectorOptions options;
  std::size_t hot_max;
};

Setting any_setting(std::mt19937_64& random) {
  const auto rule = [&](std::string match, Dimension dimension) {
    Rule made;
    made.match = std::move(match);
    made.measure = {seconds(10), dimension};
    made.hot = static_cast<double>(100 + random() % 3000);
    made.warm = made.hot / static_cast<double>(1 + random() % 8);
    made.hot_share = random() % 3 == 0 ? 0.05 : 0;
    made.confirm_windows = random() % 4 == 0 ? 2 : 1;
    made.demote_ratio = 0.1 * static_cast<double>(random() % 11);
    made.minimum_residence = seconds(random() % 3 * 7);
    return made;
  };
  Setting made;
  made.options.rules =
      RuleSet::make(rule("*", Dimension::kRequests),
                    {rule("k1*", Dimension::kRequests), rule("k2?", Dimension::kMisses)})
          .value();
  made.options.top_n = static_cast<std::uint32_t>(random() % 6);
  made.options.keys_max = 1 + random() % 12;
  made.options.promotion_interval = seconds(random() % 2 * 4);
  made.options.demotion_interval = seconds(random() % 2 * 4);
  made.options.burst = random() % 2 == 0 ? 0.25 : 0;
  made.hot_max = made.options.top_n == 0
                     ? made.options.keys_max
                     : std::min<std::size_t>(made.options.top_n, made.options.keys_max);
  return made;
}

std::vector<Summary> any_windows(std::mt19937_64& random, Nanos at) {
  const auto traffic = [&] {
    std::vector<Traffic> keys;
    for (std::size_t i = 0; i < kKeysOfModel; ++i) {
      if (random() % 4 == 0) continue;
      keys.push_back({"k" + std::to_string(i), static_cast<double>(random() % 5000),
                      static_cast<double>(random() % 3 == 0 ? random() % 500 : 0),
                      static_cast<double>(random() % 100)});
    }
    return keys;
  };
  std::vector<Summary> windows{window_of(at, traffic()), window_of(at, traffic())};
  windows[1].dimension = Dimension::kMisses;
  for (Summary& window : windows) {
    window.reads = window.requests;
    window.covers_window = random() % 2 == 0;
    window.covered = milliseconds(9000 + random() % 1000);
    window.absent_max = random() % 2000;
  }
  return windows;
}

// The changes reported for a key.
struct Heard {
  Temperature temperature = Temperature::kCold;
  TimePoint since{};
};

class SlowJudge {
 public:
  explicit SlowJudge(const Setting& setting) : setting_(setting) {}

  void check(const std::vector<Change>& changes, const std::vector<Summary>& windows,
             const std::vector<Verdict>& verdicts) {
    const TimePoint at = windows[0].at;
    bool any_promoted = false, any_cooled = false;
    for (const Change& change : changes) {
      const Temperature after = change.verdict.temperature;
      Heard& heard = heard_[change.verdict.count.key];
      RC_ASSERT(change.before == heard.temperature);
      RC_ASSERT(after != heard.temperature);  // never the same twice
      RC_ASSERT(change.verdict.since == at);
      RC_ASSERT(!change.verdict.reason.empty());
      const bool is_promotion = after == Temperature::kHot;
      const bool is_demotion = heard.temperature == Temperature::kHot;
      RC_ASSERT((change.kind == Change::Kind::kPromote) == is_promotion);
      RC_ASSERT((change.kind == Change::Kind::kDemote) == is_demotion);
      check_evidence(change, windows);
      if (is_demotion && !is_written(change)) {  // for its sake nothing waits
        any_cooled = true;
        RC_ASSERT(at - heard.since >= rule_of(change).minimum_residence);
      }
      any_promoted |= is_promotion;
      heard = {after, at};
    }
    check_interval(any_promoted, promoted_at_, setting_.options.promotion_interval, at);
    check_interval(any_cooled, cooled_at_, setting_.options.demotion_interval, at);
    check_verdicts(verdicts);
  }

 private:
  const Rule& rule_of(const Change& change) const {
    return setting_.options.rules.of(change.verdict.count.key);
  }

  const KeyCount* evidence(const Change& change, const std::vector<Summary>& windows) const {
    const Summary& window = windows[setting_.options.rules.measure_of(rule_of(change))];
    for (const KeyCount& count : window.keys) {
      if (count.key == change.verdict.count.key) return &count;
    }
    return nullptr;
  }

  // Nothing is said without proof, but by a burst.
  void check_evidence(const Change& change, const std::vector<Summary>& windows) const {
    const Rule& rule = rule_of(change);
    const Summary& window = windows[setting_.options.rules.measure_of(rule)];
    const KeyCount* const count = evidence(change, windows);
    const Temperature after = change.verdict.temperature;
    if (count == nullptr) {
      RC_ASSERT(after == Temperature::kCold);
      return;
    }
    const double rate = static_cast<double>(count->low) / window.seconds();
    const double share = static_cast<double>(count->low) / static_cast<double>(window.total());
    const bool proven =
        rate >= rule.hot || (rule.hot_share > 0 && share >= rule.hot_share && rate >= rule.warm);
    const bool is_read = static_cast<double>(count->reads) >=
                         rule.write_hot_ratio * static_cast<double>(count->writes);
    if (after == Temperature::kHot) {
      const bool may_burst = setting_.options.burst > 0 && rule.confirm_windows == 1 &&
                             rate * window.seconds() >= setting_.options.burst * rule.hot * 10;
      RC_ASSERT(proven || may_burst);
      RC_ASSERT(is_read);
    }
    if (after == Temperature::kWriteHot) {
      RC_ASSERT(!is_read);
      RC_ASSERT(proven || change.before == Temperature::kHot);
    }
    const double high = static_cast<double>(count->high) / window.seconds();
    if (after == Temperature::kWarm) RC_ASSERT(high >= rule.warm * rule.demote_ratio);
  }

  bool is_written(const Change& change) const {
    const KeyCount& count = change.verdict.count;
    return static_cast<double>(count.reads) <
           rule_of(change).write_hot_ratio * static_cast<double>(count.writes);
  }

  static void check_interval(bool happened, std::optional<TimePoint>& last, Nanos interval,
                             TimePoint at) {
    if (!happened) return;
    if (last) RC_ASSERT(at - *last >= interval);
    last = at;
  }

  // The verdicts agree with the reported changes.
  void check_verdicts(const std::vector<Verdict>& verdicts) const {
    std::size_t hot = 0;
    for (const Verdict& verdict : verdicts) {
      const Heard& heard = heard_.at(verdict.count.key);
      RC_ASSERT(verdict.temperature == heard.temperature);
      RC_ASSERT(verdict.since == heard.since);
      RC_ASSERT(verdict.rate_low <= verdict.rate_high);
      if (verdict.temperature == Temperature::kHot) ++hot;
    }
    RC_ASSERT(std::is_sorted(verdicts.begin(), verdicts.end(),
                             [](const auto& a, const auto& b) { return a.heat > b.heat; }));
    RC_ASSERT(hot <= setting_.hot_max);
    RC_ASSERT(verdicts.size() <= setting_.options.keys_max);
    const auto not_cold = std::count_if(heard_.begin(), heard_.end(), [](const auto& heard) {
      return heard.second.temperature != Temperature::kCold;
    });
    RC_ASSERT(static_cast<std::size_t>(not_cold) == verdicts.size());
  }

  const Setting& setting_;
  std::map<std::string, Heard> heard_;
  std::optional<TimePoint> promoted_at_, cooled_at_;
};

std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += change.verdict.count.key + to_string(change.verdict.temperature) +
            change.verdict.reason + "\n";
  }
  return text;
}

RC_GTEST_PROP(SelectorModel, KeepsItsContract, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const Setting setting = any_setting(random);
  Selector selector(setting.options), twin(setting.options);
  SlowJudge judge(setting);
  Nanos at = seconds(1000);
  for (int step = 0; step < 200; ++step) {
    at += milliseconds(random() % 2 == 0 ? random() % 120 : random() % 5000);
    const std::vector<Summary> windows = any_windows(random, at);
    const std::vector<Change> changes = selector.update(windows);
    judge.check(changes, windows, selector.verdicts());
    RC_ASSERT(text_of(changes) == text_of(twin.update(windows)));
  }
}

}  // namespace
}  // namespace heatsink::detect
