// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/repeated_pushes.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::proxy {
namespace {

class RepeatedPushesTest : public testing::Test {
 protected:
  std::string tick() {
    return pushes.tick([this](ReplyQueue::Ticket ticket) { return ticket >= first_owed; });
  }
  RepeatedPushes pushes;
  ReplyQueue::Ticket first_owed = 1;
};

TEST_F(RepeatedPushesTest, APushComesOneWholeTickAfterItsReply) {
  pushes.add("a", ReplyQueue::kNone);
  EXPECT_EQ(tick(), "") << "the reply may have gone out just now";
  pushes.add("b", ReplyQueue::kNone);
  EXPECT_EQ(tick(), "a");
  EXPECT_EQ(tick(), "b");
  EXPECT_TRUE(pushes.empty());
  EXPECT_EQ(pushes.bytes(), 0U);
}

TEST_F(RepeatedPushesTest, ItWaitsForItsReply) {
  pushes.add("a", 1);
  pushes.add("b", 2);
  EXPECT_EQ(tick(), "");
  EXPECT_EQ(tick(), "");
  first_owed = 2;
  pushes.add("c", 3);
  EXPECT_EQ(tick(), "");
  EXPECT_EQ(tick(), "") << "those of one tick wait for each other";
  first_owed = 3;
  EXPECT_EQ(tick(), "");
  EXPECT_EQ(tick(), "ab");
  EXPECT_FALSE(pushes.empty());
  EXPECT_EQ(pushes.take_all(), "c");
  EXPECT_TRUE(pushes.empty());
}

// Otherwise a client that is never idle would never be told.
TEST_F(RepeatedPushesTest, ABusyClientIsTold) {
  std::string told;
  for (ReplyQueue::Ticket ticket = 1; ticket <= 20; ++ticket) {
    pushes.add("x", ticket);
    first_owed = ticket;
    told += tick();
  }
  EXPECT_EQ(told, std::string(18, 'x'));
}

TEST_F(RepeatedPushesTest, ItsMemoryHasALimit) {
  const std::string half(RepeatedPushes::kBytesMax / 2, 'x');
  EXPECT_TRUE(pushes.add(half, ReplyQueue::kNone));
  EXPECT_TRUE(pushes.add(half, ReplyQueue::kNone));
  EXPECT_FALSE(pushes.add("x", ReplyQueue::kNone));
  EXPECT_EQ(pushes.take_all(), half + half);
  EXPECT_TRUE(pushes.add("x", ReplyQueue::kNone));
}

}  // namespace
}  // namespace heatsink::proxy
