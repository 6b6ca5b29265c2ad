// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/destination.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/command/request.h"
#include "heatsink/copies/node_state.h"

namespace heatsink::proxy {
namespace {

class DestinationTest : public ::testing::Test {
 protected:
  Destination of(std::vector<std::string_view> args) {
    args_ = std::move(args);
    request_.emplace(args_, "");
    request_->command = resp::CommandTable::built_in().find(args_);
    return Destination::of(*request_, Destination::Behind::kNothing);
  }

  std::vector<std::string_view> args_;
  std::optional<Request> request_;
};

TEST_F(DestinationTest, IsTheSlotOfTheFirstKey) {
  // From CLUSTER KEYSLOT of Redis 7.0.
  EXPECT_EQ(of({"GET", "foo"}).slot(), 12182);
  EXPECT_EQ(of({"MSET", "{user1000}.a", "1", "{user1000}.b", "2"}).slot(), 3443);
  EXPECT_EQ(of({"EVAL", "return 1", "1", "foo"}).slot(), 12182);
  EXPECT_EQ(Destination::of_key("foo").slot(), 12182);
}

TEST_F(DestinationTest, HasNoSlotWithoutAKey) {
  EXPECT_FALSE(of({"PING"}).slot().has_value());
  EXPECT_FALSE(of({"EVAL", "return 1", "0"}).slot().has_value());
  EXPECT_FALSE(of({"NO-SUCH-COMMAND", "foo"}).slot().has_value());
  EXPECT_FALSE(Destination::any().slot().has_value());
}

// Keys from "l" on have level ttl, "off" has level off; all others have level key.
copies::NodeState state_with_levels() {
  policy::ProxyOptions options;
  for (const auto& [prefix, level] : {std::pair("l", "ttl"), std::pair("off", "off")}) {
    policy::RuleOptions& rule = options.rules.emplace_back();
    rule.match = std::string(prefix) + "*";
    rule.level = level;
  }
  return {options, net::parse_redis_url("redis://127.0.0.1").value(), 1};
}

TEST_F(DestinationTest, LagsOnlyWhereItsRulesAllowIt) {
  const copies::NodeState state = state_with_levels();
  EXPECT_TRUE(of({"GET", "late"}).may_lag(state));
  EXPECT_TRUE(of({"MGET", "late", "later"}).may_lag(state));
  EXPECT_FALSE(of({"GET", "foo"}).may_lag(state));
  EXPECT_FALSE(of({"GET", "off"}).may_lag(state));
  EXPECT_FALSE(of({"MGET", "late", "foo"}).may_lag(state));
}

TEST_F(DestinationTest, LagsOnlyForReadsThatNameTheirKeys) {
  const copies::NodeState state = state_with_levels();
  EXPECT_FALSE(of({"SET", "late", "1"}).may_lag(state));
  EXPECT_FALSE(of({"EVAL_RO", "return 1", "1", "late"}).may_lag(state));
  EXPECT_FALSE(of({"DBSIZE"}).may_lag(state));
  EXPECT_FALSE(of({"NO-SUCH-COMMAND"}).may_lag(state));
  EXPECT_FALSE(Destination::of_key("late").may_lag(state));
  EXPECT_FALSE(Destination::any().may_lag(state));
}

TEST_F(DestinationTest, NeverLagsBehindAWriteOfItsClient) {
  of({"GET", "late"});
  EXPECT_FALSE(
      Destination::of(*request_, Destination::Behind::kOwnWrite).may_lag(state_with_levels()));
}

}  // namespace
}  // namespace heatsink::proxy
