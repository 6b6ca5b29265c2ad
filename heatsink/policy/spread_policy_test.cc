// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/spread_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/option_list.h"
#include "heatsink/policy/rules.h"

namespace heatsink::policy {
namespace {

using ::testing::HasSubstr;

class SpreadRules : public ::testing::Test {
 protected:
  SpreadRules() { options.describe(rows); }

  std::string fault_of(std::string_view rule) {
    for (const Error& fault : rows.find_list("rules")->add_item(rule, "--rule"))
      return fault.message;
    return spread_fault(options, options.rules.back());
  }

  ProxyOptions options;
  OptionSet rows;
};

TEST_F(SpreadRules, NoneIsEmpty) {
  EXPECT_EQ(fault_of("match=a,level=off"), "");
  EXPECT_TRUE(spreads_of_rules(options).empty());
}

TEST_F(SpreadRules, CopiesAndParts) {
  EXPECT_EQ(fault_of("match=a,level=off,spread.copies=6,spread.ttl=300ms"), "");
  EXPECT_EQ(fault_of("match=b,level=off,spread.copies=3"), "");
  EXPECT_EQ(fault_of("match=c,level=off,spread.parts=8"), "");
  EXPECT_TRUE(rule_faults(options).empty());
  const std::vector<SpreadPolicy> spreads = spreads_of_rules(options);
  ASSERT_EQ(spreads.size(), 4U);
  EXPECT_FALSE(spreads[0].is_on());
  EXPECT_EQ(spreads[1].copies, 6U);
  EXPECT_EQ(spreads[1].ttl, Millis(300));
  EXPECT_EQ(spreads[2].ttl, std::chrono::seconds(1));
  EXPECT_EQ(spreads[3].parts, 8U);
}

TEST_F(SpreadRules, Mistakes) {
  EXPECT_THAT(fault_of("match=a,spread.copies=3"), HasSubstr("write level: off"));
  EXPECT_THAT(fault_of("match=a,spread.parts=3,level=ttl"), HasSubstr("has level ttl"));
  EXPECT_THAT(fault_of("match=a,level=off,spread.copies=3,spread.parts=3"),
              HasSubstr("only one of them"));
  EXPECT_THAT(fault_of("match=a,level=off,spread.ttl=1s"), HasSubstr("write spread.copies"));
  EXPECT_THAT(fault_of("match=a,level=off,spread.parts=2,spread.ttl=1s"),
              HasSubstr("remove spread.ttl"));
  EXPECT_THAT(fault_of("match=a,level=off,spread.copies=3,coalesce=5ms"),
              HasSubstr("remove coalesce"));
  EXPECT_THAT(fault_of("match=a,level=off,spread.copies=3,reads=replicas"),
              HasSubstr("write reads: master"));
  EXPECT_NE(fault_of("match=a,level=off,spread.copies=1"), "");
  EXPECT_NE(fault_of("match=a,level=off,spread.copies=65"), "");
  EXPECT_NE(fault_of("match=a,level=off,spread.copies=2,spread.ttl=10ms"), "");
}

TEST_F(SpreadRules, LevelOffForAllKeysIsEnough) {
  ASSERT_TRUE(rows.set("cache.level", "off").ok());
  EXPECT_EQ(fault_of("match=a,spread.copies=3"), "");
}

}  // namespace
}  // namespace heatsink::policy
