// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/option_list.h"

namespace heatsink::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Rules : public ::testing::Test {
 protected:
  Rules() { options.describe(rows); }

  void add(std::string_view rule) {
    for (const Error& fault : rows.find_list("rules")->add_item(rule, "--rule"))
      ADD_FAILURE() << fault.message;
  }
  std::vector<std::string> faults() const {
    std::vector<std::string> out;
    for (const RuleFault& fault : rule_faults(options))
      out.push_back(std::to_string(fault.rule) + ": " + fault.sentence);
    return out;
  }
  // The faults of one rule alone.
  std::vector<std::string> faults_of(std::string_view rule) {
    rows.find_list("rules")->truncate(0);
    add(rule);
    return faults();
  }

  ProxyOptions options;
  OptionSet rows;
};

TEST_F(Rules, AloneEachOfAFleetHasItsPartOfTheThresholds) {
  options.hot_qps = 3000;
  options.fleet_size = 20;
  add("match=a,hot-qps=100,warm-qps=40");
  const detect::RuleSet rules = rule_set(options).value();
  EXPECT_DOUBLE_EQ(rules.rules()[0].hot, 150);
  EXPECT_DOUBLE_EQ(rules.rules()[1].hot, 5);
  EXPECT_DOUBLE_EQ(rules.rules()[1].warm, 2);
  EXPECT_THAT(quiet_sentence(options), HasSubstr("divided by 20 (detection.fleet-size)"));
}

TEST_F(Rules, InAFleetKeysAreTrackedFromTheirPartOn) {
  options.hot_qps = 3000;
  options.workers = 2;
  const detect::RuleSet rules = rule_set(options).value();
  const std::uint64_t alone = shard_floors(options, rules)[0].least;
  const std::uint64_t together = shard_floors(options, rules, 16)[0].least;
  EXPECT_NEAR(static_cast<double>(together), static_cast<double>(alone) / 16, 1);
  EXPECT_EQ(measure_options(options, rules, 16)[0].urgent_count,
            measure_options(options, rules)[0].urgent_count);
}

TEST_F(Rules, EveryDimensionCanBeWritten) {
  using detect::Dimension;
  for (const auto& [name, dimension] :
       {std::pair("requests", Dimension::kRequests), std::pair("bytes", Dimension::kBytes),
        std::pair("writes", Dimension::kWrites), std::pair("misses", Dimension::kMisses)}) {
    OptionSet set;
    options.describe(set);
    EXPECT_TRUE(set.set("detection.dimension", name).ok());
    EXPECT_EQ(measure_of(options).dimension, dimension);
    add(std::string("match=a,window=1s,dimension=") + name);
    EXPECT_EQ(measure_of(options, options.rules.back()),
              (detect::Measure{std::chrono::seconds(1), dimension}));
    add("match=a");
    EXPECT_EQ(measure_of(options, options.rules.back()), measure_of(options));
  }
}

TEST_F(Rules, RulesThatMakeSenseHaveNoFaults) {
  EXPECT_THAT(faults_of("match=product:*,hot-qps=500,window=1s"), IsEmpty());
  EXPECT_THAT(faults_of("match=a,hot-qps=5"), IsEmpty()) << "warm comes down with hot";
  EXPECT_THAT(faults_of("match=a,hot-qps=5,warm-qps=5"), IsEmpty());
  EXPECT_THAT(faults_of("match=a,dimension=bytes,hot-bytes=1mb"), IsEmpty());
  EXPECT_THAT(faults_of("match=a,dimension=writes,hot-qps=10,hot-share=2%"), IsEmpty());
}

TEST_F(Rules, KeysMustBeNamed) {
  EXPECT_THAT(faults_of("hot-qps=5"), ElementsAre(HasSubstr("match is missing")));
  EXPECT_THAT(faults_of("match=" + std::string(1024, 'a')), IsEmpty());
  EXPECT_THAT(faults_of("match=" + std::string(1025, 'a')), ElementsAre(HasSubstr("1024 bytes")));
}

TEST_F(Rules, BytesAndRequestsAreNeverMixed) {
  EXPECT_THAT(faults_of("match=a,dimension=bytes,hot-qps=5"),
              ElementsAre("0: hot-qps is not for bytes, but this rule counts bytes: write "
                          "hot-bytes, as in hot-bytes: 50mb"));
  EXPECT_THAT(faults_of("match=a,dimension=bytes,warm-qps=5"),
              ElementsAre(HasSubstr("write warm-bytes")));
  EXPECT_THAT(faults_of("match=a,hot-bytes=5mb"),
              ElementsAre("0: hot-bytes is for bytes, but this rule counts requests: write "
                          "hot-qps, or dimension: bytes"));
  EXPECT_THAT(faults_of("match=a,dimension=writes,warm-bytes=5mb"),
              ElementsAre(HasSubstr("this rule counts writes")));
  options.dimension = detect::Dimension::kBytes;
  EXPECT_THAT(faults_of("match=a,hot-bytes=50mb"), IsEmpty());
}

TEST_F(Rules, WarmIsNotAboveHot) {
  EXPECT_THAT(faults_of("match=a,hot-qps=5,warm-qps=6"),
              ElementsAre(HasSubstr("warm-qps is above hot-qps")));
  EXPECT_THAT(faults_of("match=a,warm-qps=3001"), ElementsAre(HasSubstr("warm-qps is above")));
  EXPECT_THAT(faults_of("match=a,dimension=bytes,hot-bytes=1mb,warm-bytes=2mb"),
              ElementsAre(HasSubstr("warm-bytes is above hot-bytes")));
}

TEST_F(Rules, FifthMeasureIsRefused) {
  for (const char* rule : {"match=a,window=1s", "match=b,window=1s", "match=c,dimension=bytes",
                           "match=d,dimension=writes"}) {
    add(rule);
  }
  EXPECT_THAT(faults(), IsEmpty());
  add("match=e,dimension=misses");
  add("match=f,dimension=bytes");
  EXPECT_THAT(
      faults(),
      ElementsAre("4: 10s misses is one pair more than the 4 pairs of window and dimension that "
                  "rules may have: use one of 10s requests, 1s requests, 10s bytes, 10s writes"));
}

TEST_F(Rules, WindowIsNotShorterThanTheTick) {
  options.tick = std::chrono::seconds(2);
  EXPECT_THAT(faults_of("match=a,window=1s"),
              ElementsAre(HasSubstr("window 1s is shorter than detection.tick (2s)")));
}

TEST_F(Rules, WhatARuleDoesNotSayIsAsForAllKeys) {
  options.hot_qps = 1000;
  options.warm_qps = 500;
  options.write_hot_ratio = 3;
  options.minimum_residence = std::chrono::seconds(7);
  add("match=a*,hot-qps=200,hot-share=2%,confirm-windows=2,demote-ratio=0.5");
  add("match=b,dimension=bytes,hot-bytes=2kb,warm-bytes=1kb,window=1s");
  const detect::RuleSet rules = rule_set(options).value();
  const detect::Rule& base = rules.of("other");
  EXPECT_EQ(base.hot, 1000);
  EXPECT_EQ(base.warm, 500);
  EXPECT_EQ(base.name, "");
  const detect::Rule& a = rules.of("ab");
  EXPECT_EQ(a.name, "a*");
  EXPECT_EQ(a.hot, 200);
  EXPECT_EQ(a.warm, 200) << "comes down with hot";
  EXPECT_EQ(a.hot_share, 0.02);
  EXPECT_EQ(a.confirm_windows, 2u);
  EXPECT_EQ(a.demote_ratio, 0.5);
  EXPECT_EQ(a.write_hot_ratio, 3);
  EXPECT_EQ(a.minimum_residence, std::chrono::seconds(7));
  EXPECT_EQ(a.measure, base.measure);
  const detect::Rule& b = rules.of("b");
  EXPECT_EQ(b.hot, 2048);
  EXPECT_EQ(b.warm, 1024);
  EXPECT_EQ(b.measure, (detect::Measure{std::chrono::seconds(1), detect::Dimension::kBytes}));
}

// The most that a rule can say about what is automatic.
TEST_F(Rules, ThresholdsAreAutomaticUntilTheyAreSet) {
  add("match=a,warm-qps=50");
  add("match=b,hot-qps=200");
  add("match=c,dimension=writes");
  detect::RuleSet rules = rule_set(options).value();
  const detect::Rule& base = rules.of("other");
  EXPECT_EQ(base.hot, 100);
  EXPECT_EQ(base.hot_part, 0.01);
  EXPECT_EQ(base.warm, 25);
  EXPECT_EQ(base.warm_part, 0.0025);
  EXPECT_EQ(rules.of("a").hot_part, 0.01);
  EXPECT_EQ(rules.of("a").warm, 50);
  EXPECT_EQ(rules.of("a").warm_part, 0);
  EXPECT_EQ(rules.of("b").hot, 200);
  EXPECT_EQ(rules.of("b").hot_part, 0);
  EXPECT_EQ(rules.of("b").warm, 50);
  EXPECT_EQ(rules.of("b").warm_part, 0);
  EXPECT_EQ(rules.of("c").hot_part, 0.01);
  EXPECT_THAT(faults_of("match=a,warm-qps=101"),
              ElementsAre(HasSubstr("above 100, the least that hot-qps: auto may be")));
  // Keys that limits.automatic-qps is to find must be warm, whatever the traffic.
  options.automatic_qps = 1000;
  rules = rule_set(options).value();
  EXPECT_EQ(rules.of("other").warm, 25);
  EXPECT_EQ(rules.of("other").warm_part, 0);
  options.automatic_qps = 10;
  EXPECT_EQ(rule_set(options).value().of("other").warm, 10);
}

TEST_F(Rules, ShardsAreUrgentAtTheirPartOfTheLeastThreshold) {
  options.hot_qps = 3000;
  options.workers = 4;
  add("match=a,hot-qps=400");
  add("match=b,hot-qps=40,confirm-windows=2,window=1s");
  const std::vector<detect::MeasureOptions> measures =
      measure_options(options, rule_set(options).value());
  ASSERT_EQ(measures.size(), 2u);
  EXPECT_EQ(measures[0].urgent_count, 250u) << "25 % of 400/s x 10 s, by four";
  EXPECT_EQ(measures[1].measure.window, std::chrono::seconds(1));
  EXPECT_EQ(measures[1].urgent_count, 10u) << "no bursts where windows are confirmed";
  options.burst = Share{0};
  EXPECT_EQ(measure_options(options, rule_set(options).value())[0].urgent_count, 1000u);
}

TEST_F(Rules, FloorsAreDividedAmongTheShards) {
  options.hot_qps = 3000;
  const detect::RuleSet rules = rule_set(options).value();
  options.workers = 1;
  const std::uint64_t all = shard_floors(options, rules).at(0).least;
  EXPECT_GT(all, 1u);
  options.workers = 4;
  EXPECT_EQ(shard_floors(options, rules).at(0).least, all / 4);
}

TEST_F(Rules, QuietSentenceNamesTheThresholds) {
  EXPECT_EQ(quiet_sentence(options), "no key reaches 1 % of the traffic and 100/s (hot-qps: auto)");
  options.hot_qps = 3000;
  EXPECT_EQ(quiet_sentence(options), "no key reaches 3000/s (detection.hot-qps)");
  options.hot_share = Share{0.02};
  add("match=a,hot-qps=1");
  EXPECT_EQ(quiet_sentence(options),
            "no key reaches 3000/s (detection.hot-qps) or 2% of the traffic (detection.hot-share) "
            "or the threshold of its rule (1 rule)");
  options.dimension = detect::Dimension::kBytes;
  EXPECT_THAT(quiet_sentence(options), HasSubstr("no key reaches 50mb/s (detection.hot-bytes)"));
  options.hot_qps = 1e6;
  options.dimension = detect::Dimension::kRequests;
  EXPECT_THAT(quiet_sentence(options), HasSubstr("no key reaches 1000000/s"));
}

}  // namespace
}  // namespace heatsink::policy
