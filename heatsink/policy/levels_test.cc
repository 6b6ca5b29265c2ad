// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/option_list.h"
#include "heatsink/policy/rules.h"

namespace heatsink::policy {
namespace {

using cache::ConsistencyPolicy;
using cache::Level;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Levels : public ::testing::Test {
 protected:
  Levels() { options.describe(rows); }

  void add(std::string_view rule) {
    for (const Error& fault : rows.find_list("rules")->add_item(rule, "--rule"))
      ADD_FAILURE() << fault.message;
  }
  // The consistency policy of a key, found as the proxy finds it.
  ConsistencyPolicy of(std::string_view key) const {
    const detect::RuleSet rules = rule_set(options).value();
    return consistency_of_rules(options)[rules.index_of(rules.of(key))];
  }
  std::string fault_of(std::string_view rule) {
    add(rule);
    return staleness_fault(options, options.rules.back());
  }

  ProxyOptions options;
  OptionSet rows;
};

TEST_F(Levels, KeyWithinASecondIsWhatAllKeysHave) {
  EXPECT_EQ(of("k"), (ConsistencyPolicy{Level::kKey, std::chrono::seconds(1)}));
}

TEST_F(Levels, EachLevelCanBeWritten) {
  for (const auto& [name, level] :
       {std::pair("off", Level::kOff), std::pair("ttl", Level::kTtl), std::pair("key", Level::kKey),
        std::pair("session", Level::kSession)}) {
    add(std::string("match=") + name + ",level=" + name);
    EXPECT_EQ(of(name).level, level);
    EXPECT_STREQ(to_string(level), name);
    ASSERT_TRUE(rows.set("cache.level", name).ok());
    EXPECT_EQ(of("any other").level, level);
  }
}

TEST_F(Levels, WhatARuleDoesNotSayIsAsForAllKeys) {
  options.level = cache::Level::kSession;
  options.max_staleness = std::chrono::seconds(5);
  add("match=a,max-staleness=300ms");
  add("match=b,level=key");
  EXPECT_EQ(of("a"), (ConsistencyPolicy{Level::kSession, Millis(300)}));
  EXPECT_EQ(of("b"), (ConsistencyPolicy{Level::kKey, std::chrono::seconds(5)}));
}

TEST_F(Levels, TheLongestRuleThatMatchesCounts) {
  add("match=user:*,level=off");
  add("match=user:1:*,level=session");
  EXPECT_EQ(of("user:1:name").level, Level::kSession);
  EXPECT_EQ(of("user:2:name").level, Level::kOff);
}

TEST_F(Levels, TheTrackerMayBeSilentForAsLongAsAnyRuleAllows) {
  add("match=a,max-staleness=300ms");
  EXPECT_EQ(longest_staleness(consistency_of_rules(options)), std::chrono::seconds(1));
  add("match=b,max-staleness=3s");
  EXPECT_EQ(longest_staleness(consistency_of_rules(options)), std::chrono::seconds(3));
}

TEST_F(Levels, TheShortestBoundIsOfTheCopiesThatNeedProofs) {
  add("match=a,max-staleness=3s");
  EXPECT_EQ(shortest_staleness(consistency_of_rules(options)), std::chrono::seconds(1));
  add("match=b,max-staleness=300ms");
  EXPECT_EQ(shortest_staleness(consistency_of_rules(options)), Millis(300));
}

TEST_F(Levels, MastersAreAskedForTheirEpochAsOftenAsTheShortestBoundNeeds) {
  add("match=a,max-staleness=3s");
  EXPECT_EQ(epoch_interval(consistency_of_rules(options)), Millis(400));
  add("match=b,max-staleness=600ms");
  EXPECT_EQ(epoch_interval(consistency_of_rules(options)), Millis(240));
  add("match=c,level=session");
  EXPECT_EQ(epoch_interval(consistency_of_rules(options)), Nanos(0));
}

TEST_F(Levels, ABoundBelowTwoHeartbeatsIsAFault) {
  options.heartbeat_interval = Millis(50);
  EXPECT_EQ(fault_of("match=a,max-staleness=100ms"), "");
  EXPECT_EQ(fault_of("match=a,max-staleness=99ms"),
            "max-staleness is 99ms, but must be at least twice cache.heartbeat-interval (otherwise "
            "one lost heartbeat would stop local reads): use 100ms .. 1m, or shorten "
            "cache.heartbeat-interval");
}

TEST_F(Levels, ABoundThatCountsForNothingIsAFault) {
  EXPECT_THAT(fault_of("match=a,level=ttl,max-staleness=1s"), HasSubstr("at level ttl"));
  EXPECT_THAT(fault_of("match=a,level=off,max-staleness=1s"), HasSubstr("at level off"));
  EXPECT_EQ(fault_of("match=a,level=ttl"), "");
  options.level = cache::Level::kTtl;
  EXPECT_THAT(fault_of("match=a,max-staleness=1s"), HasSubstr("at level ttl"));
  EXPECT_EQ(fault_of("match=a,level=session,max-staleness=1s"), "");
}

TEST_F(Levels, StaleWhileErrorIsOfLevelKeyAndLongerThanWhatItLeaves) {
  add("match=a,stale-while-error=30s");
  EXPECT_EQ(consistency_of_rules(options)[0].stale_while_error, Nanos(0));
  EXPECT_EQ(consistency_of_rules(options)[1].stale_while_error, std::chrono::seconds(30));
  EXPECT_TRUE(rule_faults(options).empty());
  add("match=b,level=session,stale-while-error=30s");
  EXPECT_THAT(rule_faults(options).back().sentence, HasSubstr("this rule has level session"));
  options.rules.pop_back();
  add("match=b,stale-while-error=1s");
  EXPECT_THAT(rule_faults(options).back().sentence, HasSubstr("for max-staleness (1s) anyway"));
}

TEST_F(Levels, ClientsKeepAllKeysButThoseOfARule) {
  options.client_tracking = ClientTracking::kPays;
  add("match=a,client-tracking=pays");
  add("match=b");
  EXPECT_TRUE(client_keeping_of_rules(options).empty()) << "no key is looked up";
  add("match=c,client-tracking=off");
  EXPECT_EQ(client_keeping_of_rules(options), (std::vector<bool>{true, true, true, false}));
  EXPECT_TRUE(rule_faults(options).empty());
}

TEST_F(Levels, ClientsKeepNothingThatHasNoCopiesOrThatTheServerTracks) {
  add("match=a,client-tracking=off");
  EXPECT_TRUE(rule_faults(options).empty());
  add("match=b,client-tracking=pays");
  EXPECT_THAT(rule_faults(options).back().sentence, HasSubstr("write proxy.client-tracking: pays"));
  options.client_tracking = ClientTracking::kPays;
  EXPECT_TRUE(rule_faults(options).empty());
  add("match=c,client-tracking=pays,level=off");
  EXPECT_THAT(rule_faults(options).back().sentence, HasSubstr("without local copies"));
  options.rules.pop_back();
  add("match=c,client-tracking=pays,admission=off");
  EXPECT_THAT(rule_faults(options).back().sentence, HasSubstr("without local copies"));
}

TEST_F(Levels, CopiesAreRenewedUnlessSomebodySaysOtherwise) {
  add("match=a,refresh=off");
  add("match=b,refresh=on");
  add("match=c");
  EXPECT_EQ(refreshes_of_rules(options), (std::vector<bool>{true, false, true, true}));
  options.refresh_enabled = false;
  EXPECT_EQ(refreshes_of_rules(options), (std::vector<bool>{false, false, true, false}));
}

TEST_F(Levels, TheFaultsOfRulesTellThem) {
  add("match=a,level=ttl,max-staleness=1s");
  const std::vector<RuleFault> faults = rule_faults(options);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_THAT(faults.front().sentence, HasSubstr("at level ttl"));
}

}  // namespace
}  // namespace heatsink::policy
