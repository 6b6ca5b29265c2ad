// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "heatsink/base/testing/times.h"
#include "heatsink/policy/rules.h"

namespace heatsink::policy {
namespace {

using namespace std::chrono_literals;

constexpr KeyHash kSomeKey{99};

LimitPolicy policy(LimitPolicy::Per per, limit::Rate rate = {5000, std::chrono::seconds(1)}) {
  LimitPolicy out;
  out.limiter.rate = rate;
  out.per = per;
  return out;
}

TEST(BusyText, SaysWhatIsLimitedAndUntilWhen) {
  const RuleLimit key(policy(LimitPolicy::Per::kKey), "a:*", 8);
  EXPECT_EQ(busy_text(key, "", 11'100us), "BUSY heatsink: key limited to 5000/s, retry in 12 ms");
  EXPECT_EQ(busy_text(key, "", 1us), "BUSY heatsink: key limited to 5000/s, retry in 1 ms");
  EXPECT_EQ(busy_text(key, "", 0us), "BUSY heatsink: key limited to 5000/s, retry in 1 ms");
  EXPECT_EQ(busy_text(key, "", 9999ms), "BUSY heatsink: key limited to 5000/s, retry in 9999 ms");
  EXPECT_EQ(busy_text(key, "a\r\nb", 40min),
            "BUSY heatsink: key a\\r\\nb limited to 5000/s, retry in 2400 s");
  const RuleLimit client(policy(LimitPolicy::Per::kClient, {1, 1h}), "a:*", 8);
  EXPECT_EQ(busy_text(client, "", 1s),
            "BUSY heatsink: client, for keys of rule a:*, limited to 1/h, retry in 1000 ms");
}

TEST(AutomaticLimits, AreForSingleKeysAndForThoseWithoutALimit) {
  ProxyOptions options;
  options.automatic_qps = 1000;
  RuleOptions rule;
  rule.match = "ruled";
  rule.limit_rate = "5/s";
  options.rules.push_back(rule);
  const auto limits = Limits::make(options, rule_set(options).value());
  ASSERT_NE(limits, nullptr);
  EXPECT_EQ(limits->of("a", kSomeKey), nullptr);
  limits->begin_automatic(kSomeKey, kStart);
  EXPECT_EQ(limits->automatic_keys(), 1U);
  RuleLimit* const found = limits->of("a", kSomeKey);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->policy().limiter.rate, (limit::Rate{1000, 1s}));
  EXPECT_EQ(limits->of("b", KeyHash{5}), nullptr);
  EXPECT_EQ(limits->of("ruled", kSomeKey)->name(), "ruled");
  limits->end_automatic(kSomeKey);
  EXPECT_EQ(limits->of("a", kSomeKey), nullptr);
}

TEST(LimitMetrics, AreByRuleAndOutcomeWithoutNamesOfOtherKeys) {
  ProxyOptions options;
  RuleOptions rule;
  rule.match = "a:*";
  rule.limit_rate = "5/s";
  options.rules.push_back(rule);
  const auto limits = Limits::make(options, rule_set(options).value());
  RuleLimit& limit = *limits->of("a:1", kSomeKey);
  limits->count(limit, LimitOutcome::kRejected, kSomeKey, kStart);
  limits->count(limit, LimitOutcome::kRejected, kSomeKey, kStart);
  limits->count(limit, LimitOutcome::kDelayed, kSomeKey, kStart);
  EXPECT_GT(limits->limited_rate(kSomeKey, kStart + 1s), 0);
  MetricSamples samples;
  limits->append_samples(samples);
  std::map<std::string, double> by_outcome;
  for (const MetricSample& sample : samples) {
    if (sample.row->name != "heatsink_limited_total") continue;
    EXPECT_EQ(sample.labels.front().second, "a:*");
    by_outcome[sample.labels.back().second] = sample.value;
  }
  EXPECT_EQ(by_outcome,
            (std::map<std::string, double>{{"delayed", 1}, {"rejected", 2}, {"stale", 0}}));
}

// One rule for the keys a*, and what its limit says to some accesses.
struct OneRule {
  explicit OneRule(const char* rate, LimitOver over = LimitOver::kReject) {
    RuleOptions rule;
    rule.match = "a*";
    rule.limit_rate = rate;
    rule.limit_over = over;
    options.rules.push_back(rule);
  }
  std::unique_ptr<Limits> limits(const Limits* before = nullptr) const {
    return Limits::make(options, rule_set(options).value(), before);
  }
  ProxyOptions options;
};

bool allows(Limits& limits, std::uint64_t count) {
  RuleLimit* const limit = limits.of("a", kSomeKey);
  return limit != nullptr && limit->of(kSomeKey, 0, kStart).try_acquire(count, kStart).allowed;
}

TEST(LimitsAfterAChange, KeepTheirLimitersWhileTheNumbersStay) {
  const OneRule rule("10/s");
  const auto before = rule.limits();
  ASSERT_TRUE(allows(*before, 10));
  before->count(*before->of("a", kSomeKey), LimitOutcome::kRejected, kSomeKey, kStart);
  OneRule other("10/s", LimitOver::kStale);
  RuleOptions more;
  more.match = "b";
  more.limit_rate = "1/s";
  other.options.rules.push_front(more);
  const auto after = other.limits(before.get());
  after->take_over(*before, kStart);
  EXPECT_EQ(&after->of("a", kSomeKey)->of(kSomeKey, 0, kStart),
            &before->of("a", kSomeKey)->of(kSomeKey, 0, kStart));
  EXPECT_FALSE(allows(*after, 1));
  EXPECT_EQ(after->of("a", kSomeKey)->policy().over, LimitPolicy::Over::kStale);
  EXPECT_EQ(after->of("a", kSomeKey)->counted(LimitOutcome::kRejected), 1U);
}

TEST(LimitsAfterAChange, AnotherRateHandsOutNoFreshBurst) {
  const auto before = OneRule("10/s").limits();
  ASSERT_TRUE(allows(*before, 10));
  const auto after = OneRule("1000/s").limits(before.get());
  after->take_over(*before, kStart);
  EXPECT_FALSE(allows(*after, 1));
  RuleLimit* const limit = after->of("a", kSomeKey);
  EXPECT_TRUE(limit->of(kSomeKey, 0, kStart).try_acquire(99, kStart + 100ms).allowed)
      << "it fills at the new rate";
}

TEST(LimitsAfterAChange, ARuleThatWasAwayBeginsAnew) {
  const auto before = OneRule("10/s").limits();
  ASSERT_TRUE(allows(*before, 10));
  ProxyOptions none;
  none.automatic_qps = 1000;
  const auto without = Limits::make(none, rule_set(none).value(), before.get());
  const auto after = OneRule("10/s").limits(without.get());
  after->take_over(*without, kStart);
  EXPECT_TRUE(allows(*after, 10));
}

TEST(LimitsAfterAChange, AutomaticLimitsGoOn) {
  ProxyOptions options;
  options.automatic_qps = 1000;
  const auto before = Limits::make(options, rule_set(options).value());
  before->begin_automatic(kSomeKey, kStart);
  ASSERT_TRUE(before->of("a", kSomeKey)->of(kSomeKey, 0, kStart).try_acquire(1000, kStart).allowed);
  options.automatic_qps = 5000;
  const auto after = Limits::make(options, rule_set(options).value(), before.get());
  after->take_over(*before, kStart);
  EXPECT_TRUE(after->is_automatic(kSomeKey));
  EXPECT_FALSE(after->of("a", kSomeKey)->of(kSomeKey, 0, kStart).try_acquire(1, kStart).allowed);
}

TEST(LimitsAfterAChange, CountTogetherThoseThatWait) {
  OneRule rule("10/s");
  rule.options.limits_waiting = 1;
  const auto before = rule.limits();
  const auto after = rule.limits(before.get());
  EXPECT_TRUE(before->start_waiting());
  EXPECT_FALSE(after->start_waiting());
  before->stop_waiting();
  EXPECT_TRUE(after->start_waiting());
}

}  // namespace
}  // namespace heatsink::policy
