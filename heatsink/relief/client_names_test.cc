// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/client_names.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::proxy {
namespace {

TEST(ClientNames, AnAddressHasOneNumberWhateverItsPort) {
  ClientNames names;
  const std::uint32_t first = names.enter("10.0.0.7:54321", at(Nanos(0)));
  EXPECT_EQ(names.enter("10.0.0.7:54322", at(Nanos(0))), first);
  const std::uint32_t other = names.enter("[::1]:7", at(Nanos(0)));
  EXPECT_NE(other, first);
  EXPECT_EQ(names.name(first), "10.0.0.7");
  EXPECT_EQ(names.name(other), "::1");
  EXPECT_EQ(names.name(12345), "others");
}

class FullClientNames : public ::testing::Test {
 protected:
  FullClientNames() {
    for (std::uint32_t i = 0; i < ClientNames::kClientsMax; ++i)
      names.enter("a" + std::to_string(i) + ":1", at(Nanos(0)));
  }
  ClientNames names;
};

TEST_F(FullClientNames, FurtherOnesAreTheOthers) {
  EXPECT_EQ(names.enter("late:1", at(Nanos(0))), ClientNames::kOthers);
  EXPECT_EQ(names.name(ClientNames::kOthers), "others");
  names.leave(ClientNames::kOthers, at(Nanos(0)));
  EXPECT_EQ(names.name(names.enter("a5:2", at(Nanos(0)))), "a5");
}

TEST_F(FullClientNames, NumbersAreReusedOnceTheyAreForgotten) {
  names.leave(5, at(std::chrono::minutes(1)));
  EXPECT_EQ(names.enter("late:1", at(std::chrono::minutes(61))), ClientNames::kOthers)
      << "a window of an hour may still tell of it";
  EXPECT_EQ(names.enter("late:1", at(std::chrono::minutes(62))), 5u);
  EXPECT_EQ(names.name(5), "late");
  EXPECT_EQ(names.enter("a5:1", at(std::chrono::minutes(62))), ClientNames::kOthers);
}

TEST_F(FullClientNames, WhoIsBackKeepsItsNumber) {
  names.leave(5, at(std::chrono::minutes(1)));
  EXPECT_EQ(names.enter("a5:1", at(std::chrono::minutes(2))), 5u);
  EXPECT_EQ(names.enter("late:1", at(std::chrono::hours(5))), ClientNames::kOthers);
  names.leave(5, at(std::chrono::hours(5)));
  EXPECT_EQ(names.enter("late:1", at(std::chrono::minutes(301))), ClientNames::kOthers);
  EXPECT_EQ(names.enter("late:1", at(std::chrono::hours(7))), 5u);
}

}  // namespace
}  // namespace heatsink::proxy
