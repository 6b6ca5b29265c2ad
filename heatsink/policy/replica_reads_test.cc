// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/replica_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/option_list.h"
#include "heatsink/policy/rules.h"

namespace heatsink::policy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ReplicaReadsOptionsTest : public testing::Test {
 protected:
  ReplicaReadsOptionsTest() { options.describe(rows); }

  void add(std::string_view rule) {
    for (const Error& fault : rows.find_list("rules")->add_item(rule, "--rule"))
      ADD_FAILURE() << fault.message;
  }
  std::string fault_of(std::string_view rule) {
    add(rule);
    return replica_fault(options, options.rules.back());
  }

  ProxyOptions options;
  OptionSet rows;
};

TEST_F(ReplicaReadsOptionsTest, TheMasterAnswersUnlessARuleSaysOtherwise) {
  EXPECT_THAT(replica_reads_of_rules(options), IsEmpty());
  add("match=a");
  EXPECT_THAT(replica_reads_of_rules(options), IsEmpty());
  EXPECT_EQ(shortest_lag(replica_reads_of_rules(options)), Nanos(0));
  add("match=b,level=off,reads=replicas");
  add("match=c,level=ttl,reads=all,replica-lag=300ms");
  const std::vector<ReplicaReads> rules = replica_reads_of_rules(options);
  ASSERT_EQ(rules.size(), 4U);
  EXPECT_EQ(rules[0].from, ReplicaReads::From::kMaster);
  EXPECT_EQ(rules[1].from, ReplicaReads::From::kMaster);
  EXPECT_EQ(rules[2].from, ReplicaReads::From::kReplicas);
  EXPECT_EQ(rules[2].lag, std::chrono::seconds(1));
  EXPECT_EQ(rules[3].from, ReplicaReads::From::kAll);
  EXPECT_EQ(shortest_lag(rules), Millis(300));
  EXPECT_TRUE(rule_faults(options).empty());
}

TEST_F(ReplicaReadsOptionsTest, LevelsThatPromiseMoreAreRefused) {
  EXPECT_THAT(fault_of("match=a,reads=replicas"), HasSubstr("promises of level key"));
  EXPECT_THAT(fault_of("match=a,reads=all,level=session"), HasSubstr("promises of level session"));
  EXPECT_THAT(fault_of("match=a,reads=all,level=session"), HasSubstr("write level: off"));
  EXPECT_EQ(rule_faults(options).size(), 3U) << "the start and `config check` ask there";
  EXPECT_EQ(fault_of("match=a,reads=replicas,level=ttl"), "");
  EXPECT_EQ(fault_of("match=a,reads=replicas,level=off"), "");
  options.level = cache::Level::kTtl;
  EXPECT_EQ(fault_of("match=a,reads=replicas"), "");
}

TEST_F(ReplicaReadsOptionsTest, WhatHasNoEffectIsRefused) {
  EXPECT_THAT(fault_of("match=a,replica-lag=1s"), HasSubstr("reads from the master"));
  options.detection_enabled = false;
  EXPECT_THAT(fault_of("match=a,level=off,reads=replicas"), HasSubstr("detection.enabled"));
  options.detection_enabled = true;
  options.upstream = "unix:///run/redis.sock";
  EXPECT_THAT(fault_of("match=a,level=off,reads=replicas"), HasSubstr("unix:/run/redis.sock"));
}

TEST_F(ReplicaReadsOptionsTest, TheLagHasBounds) {
  EXPECT_FALSE(
      rows.find_list("rules")->add_item("match=a,reads=all,replica-lag=199ms", "--rule").empty());
  EXPECT_TRUE(
      rows.find_list("rules")->add_item("match=a,reads=all,replica-lag=200ms", "--rule").empty());
}

}  // namespace
}  // namespace heatsink::policy
