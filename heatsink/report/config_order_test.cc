// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/config_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::report {
namespace {

using ::testing::HasSubstr;

TEST(ConfigOrder, CanBeReadBack) {
  const ConfigOrder order{"cache.level: \"off\"\n", "a.yaml", true, false};
  const Result<ConfigOrder> read = parse_config_order(config_order_json(order));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->text, order.text);
  EXPECT_EQ(read->name, order.name);
  EXPECT_TRUE(read->dry_run);
  EXPECT_FALSE(read->strict);
}

TEST(ConfigOrder, AnEmptyTextIsAConfiguration) {
  EXPECT_TRUE(parse_config_order(R"({"text": ""})").ok());
}

TEST(ConfigOrder, FaultsSayWhatToWrite) {
  for (const auto& [body, says] :
       {std::pair("", "not JSON"), std::pair("[]", "JSON object"),
        std::pair("{}", "\"text\" must be"), std::pair(R"({"text": 1})", "\"text\" must be"),
        std::pair(R"({"text": "", "strict": "yes"})", "true or false"),
        std::pair(R"({"text": "", "dry": true})", "use text, name")}) {
    const Result<ConfigOrder> read = parse_config_order(body);
    ASSERT_FALSE(read.ok()) << body;
    EXPECT_THAT(read.error().message, HasSubstr(says)) << body;
  }
}

TEST(RuleOrder, IsToAddOrToRemove) {
  EXPECT_EQ(parse_rule_order(rule_order_json({"match=a,level=off", ""}))->add, "match=a,level=off");
  EXPECT_EQ(parse_rule_order(rule_order_json({"", "a"}))->remove, "a");
  EXPECT_FALSE(parse_rule_order(rule_order_json({"", "a"}))->dry_run);
  EXPECT_TRUE(parse_rule_order(rule_order_json({"", "a", true}))->dry_run);
  EXPECT_FALSE(parse_rule_order(R"({"remove": "a", "dry_run": 1})").ok());
  EXPECT_FALSE(parse_rule_order("{}").ok());
  EXPECT_FALSE(parse_rule_order(R"({"add": "match=a", "remove": "a"})").ok());
}

}  // namespace
}  // namespace heatsink::report
