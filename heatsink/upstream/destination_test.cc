// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/destination.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/command/request.h"

namespace heatsink::proxy {
namespace {

class DestinationTest : public ::testing::Test {
 protected:
  Destination of(std::vector<std::string_view> args) {
    args_ = std::move(args);
    request_.emplace(args_, "");
    request_->command = resp::CommandTable::built_in().find(args_);
    return Destination::of(*request_);
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

}  // namespace
}  // namespace heatsink::proxy
