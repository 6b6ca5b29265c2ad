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

}  // namespace
}  // namespace heatsink::policy
