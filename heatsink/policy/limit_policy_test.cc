// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/limit_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "heatsink/base/option_list.h"
#include "heatsink/policy/rules.h"

namespace heatsink::policy {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LimitOptions : public ::testing::Test {
 protected:
  LimitOptions() { options.describe(rows); }

  const RuleOptions& rule(std::string_view text) {
    for (const Error& fault : rows.find_list("rules")->add_item(text, "--rule"))
      ADD_FAILURE() << fault.message;
    return options.rules.back();
  }
  std::string fault_of(std::string_view text) { return limit_fault(options, rule(text)); }
  LimitPolicy policy_of(std::string_view text) {
    EXPECT_THAT(fault_of(text), IsEmpty());
    return limits_of_rules(options).back().value();
  }

  ProxyOptions options;
  OptionSet rows;
};

TEST_F(LimitOptions, WithoutARateThereIsNone) {
  rule("match=a");
  EXPECT_FALSE(limits_of_rules(options).at(1).has_value());
}

TEST_F(LimitOptions, ARateIsATokenBucketPerKeyOfWhatGoesToTheServer) {
  const LimitPolicy policy = policy_of("match=a,limit.rate=100/10s");
  EXPECT_EQ(policy.limiter.algorithm, limit::Algorithm::kTokenBucket);
  EXPECT_EQ(policy.limiter.rate, (limit::Rate{100, std::chrono::seconds(10)}));
  EXPECT_EQ(limit_text(policy),
            "100/10s per key, counting commands that go to the server; over it: reject");
}

TEST_F(LimitOptions, ALimitOfTheFleetNeedsAnAlgorithmOfTheServerAndNoQueue) {
  const LimitPolicy policy = policy_of("match=a,limit.rate=100/s,limit.scope=fleet");
  EXPECT_EQ(policy.scope, LimitPolicy::Scope::kFleet);
  EXPECT_THAT(limit_text(policy), HasSubstr("100/s per key of the fleet, counting"));
  EXPECT_THAT(fault_of("match=a,limit.scope=fleet"), HasSubstr("limit.rate is missing"));
  EXPECT_THAT(fault_of("match=a,limit.rate=1/s,limit.scope=fleet,limit.algorithm=fixed-window"),
              HasSubstr("write token-bucket or sliding-window"));
  EXPECT_THAT(fault_of("match=a,limit.rate=1/s,limit.scope=fleet,limit.over=delay"),
              HasSubstr("no common queue"));
}

TEST_F(LimitOptions, TheNameOfAFleetIsPartOfKeys) {
  EXPECT_EQ(fleet_fault(options), "");
  options.fleet_name = "shop-1.eu";
  EXPECT_EQ(fleet_fault(options), "");
  options.fleet_name = "a}b";
  EXPECT_THAT(fleet_fault(options), HasSubstr("fleet.name must be"));
  options.fleet_name = "";
  EXPECT_THAT(fleet_fault(options), HasSubstr("fleet.name must be"));
}

TEST_F(LimitOptions, AllCanBeSaid) {
  const LimitPolicy policy = policy_of(
      "match=a,limit.rate=5/s,limit.burst=7,limit.of=writes,limit.per=prefix,limit.over=delay,"
      "limit.delay-max=250ms");
  EXPECT_EQ(policy.limiter.burst, 7U);
  EXPECT_EQ(policy.limiter.patience, Millis(250));
  EXPECT_EQ(limit_text(policy), "5/s per prefix, counting writes; over it: delay");
  EXPECT_EQ(policy_of("match=a,limit.rate=5/s,limit.algorithm=sliding-window,limit.per=client")
                .limiter.algorithm,
            limit::Algorithm::kSlidingWindow);
}

TEST_F(LimitOptions, DelayAndStaleHaveBoundsThatNobodyNeedWrite) {
  EXPECT_EQ(policy_of("match=a,limit.rate=5/s,limit.over=delay").limiter.patience,
            std::chrono::seconds(1));
  EXPECT_EQ(policy_of("match=a,limit.rate=5/s,limit.over=stale,max-staleness=300ms").stale_max,
            std::chrono::seconds(3));
  EXPECT_EQ(policy_of("match=a,limit.rate=5/s,limit.over=stale,limit.stale-max=1m").stale_max,
            std::chrono::minutes(1));
}

TEST_F(LimitOptions, FaultsSayWhatToDo) {
  const auto expect = [&](const char* rule, const char* words) {
    EXPECT_THAT(fault_of(rule), HasSubstr(words)) << rule;
  };
  expect("match=a,limit.rate=0/s", "a rate must be at least 1 per day; 0 would refuse everything");
  expect("match=a,limit.rate=fast", "write a count per time, as in 5000/s");
  expect("match=a,limit.rate=1/48h", "the time of a rate must be from 1ms to 24h");
  expect("match=a,limit.burst=5", "limit.rate is missing: write it");
  expect("match=a,limit.over=delay", "limit.rate is missing");
  expect("match=a,limit.rate=1/h,limit.burst=1000000", "takes more than a year to fill");
  expect("match=a,limit.rate=5/s,limit.burst=5,limit.algorithm=fixed-window", "remove limit.burst");
  expect("match=a,limit.rate=5/s,limit.over=delay,limit.algorithm=sliding-window",
         "a window, which has no queue: write limit.algorithm: token-bucket");
  expect("match=a,limit.rate=5/s,limit.over=delay,limit.algorithm=leaky-bucket",
         "which always delays");
  expect("match=a,limit.rate=1/h,limit.over=delay", "the next turn is 1h away");
  expect("match=a,limit.rate=5/s,limit.delay-max=2s", "limit.delay-max needs limit.over: delay");
  expect("match=a,limit.rate=5/s,limit.stale-max=2s", "limit.stale-max needs limit.over: stale");
  expect("match=a,limit.rate=1/s,limit.algorithm=leaky-bucket,limit.burst=100",
         "longer than a minute: lower limit.burst");
  expect("match=a,limit.rate=5/s,limit.over=stale,limit.of=writes", "stale is for reads");
  expect("match=a,limit.rate=5/s,limit.over=stale,level=session", "level: session excludes");
  expect("match=a,limit.rate=5/s,limit.over=stale,level=off", "level: off excludes");
  expect("match=a,limit.rate=5/s,limit.over=stale,stale-while-error=30s", "write one of them");
  options.cache_enabled = false;
  expect("match=a,limit.rate=5/s,limit.over=stale", "cache.enabled is false");
}

TEST_F(LimitOptions, FaultsAreThoseOfTheRules) {
  rule("match=a,limit.rate=0/s");
  ASSERT_EQ(rule_faults(options).size(), 1U);
  EXPECT_THAT(rule_faults(options).front().sentence, HasSubstr("limit.rate: "));
}

TEST_F(LimitOptions, AutomaticIsATokenBucketOfWhatGoesToTheServer) {
  EXPECT_THAT(automatic_fault(options), IsEmpty());
  options.automatic_qps = 20'000;
  EXPECT_THAT(automatic_fault(options), IsEmpty());
  EXPECT_EQ(limit_text(automatic_limit(options)),
            "20000/s per key, counting commands that go to the server; over it: reject");
  options.automatic_qps = 0.5;
  EXPECT_THAT(automatic_fault(options), HasSubstr("at least 1, or 0 for off"));
  options.automatic_qps = 100;
  EXPECT_THAT(automatic_fault(options), IsEmpty()) << "auto comes down with it";
  options.warm_qps = 500;
  EXPECT_THAT(automatic_fault(options), HasSubstr("below detection.warm-qps"));
  options.automatic_qps = 20'000;
  options.detection_enabled = false;
  EXPECT_THAT(automatic_fault(options), HasSubstr("detection.enabled is false"));
}

}  // namespace
}  // namespace heatsink::policy
