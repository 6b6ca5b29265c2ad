// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/wait.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

using Next = Wait::Next;

constexpr TimePoint kEarly{Millis(1)};
constexpr TimePoint kLate{Millis(2)};
constexpr std::string_view kHello2 = "*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$2\r\nid\r\n:77\r\n";
constexpr std::string_view kHello3 = "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$2\r\nid\r\n:77\r\n";

Wait marked(std::string_view hello) {
  Wait wait{CommandUndo(), true, TimePoint{}};
  wait.mark_answered(hello, kEarly);
  return wait;
}

TEST(Wait, OnlyAReplyReadAfterTheMarkHasWaited) {
  Wait wait{CommandUndo(), true, TimePoint{}};
  EXPECT_FALSE(wait.has_waited(kLate)) << "nothing is known before the mark";
  wait.mark_answered(kHello2, kEarly);
  EXPECT_FALSE(wait.has_waited(kEarly));
  EXPECT_TRUE(wait.has_waited(kLate));
}

TEST(Wait, AReplyThatComesLateWithTheMarkHasWaitedUnlessTheClientHadEndedBefore) {
  for (const bool ended : {false, true}) {
    Wait wait(CommandUndo(), ended, kEarly);
    const TimePoint soon = kEarly + std::chrono::microseconds(200);
    wait.mark_answered(kHello2, soon);
    EXPECT_FALSE(wait.has_waited(soon));
    wait.mark_answered(kHello2, kEarly + Millis(2));
    EXPECT_EQ(wait.has_waited(kEarly + Millis(2)), !ended);
  }
}

TEST(Wait, IsEndedOnceByTheConnectionsId) {
  for (const std::string_view hello : {kHello2, kHello3}) {
    Wait wait{CommandUndo(), true, TimePoint{}};
    EXPECT_EQ(wait.client_left(), Next::kNothing) << "it is not known yet whether it waits";
    wait.mark_answered(hello, kEarly);
    EXPECT_EQ(wait.client_left(), Next::kUnblock);
    EXPECT_EQ(wait.connection(), 77u);
    EXPECT_EQ(wait.client_left(), Next::kNothing) << "asked already";
    EXPECT_EQ(wait.unblock_answered(":1\r\n"), Next::kNothing);
    EXPECT_EQ(wait.client_left(), Next::kNothing) << "its reply is on its way";
  }
}

TEST(Wait, IsEndedAgainWhileTheServerPutsItOff) {
  Wait wait = marked(kHello2);
  for (const std::string_view reply : {":0\r\n", "-BUSY Redis is busy\r\n", "-LOADING it\r\n"}) {
    EXPECT_EQ(wait.client_left(), Next::kUnblock);
    EXPECT_EQ(wait.unblock_answered(reply), Next::kRetry);
  }
}

// Whatever else happens to the session meanwhile.
TEST(Wait, IsNotEndedDuringAPause) {
  Wait wait = marked(kHello2);
  EXPECT_EQ(wait.client_left(), Next::kUnblock);
  EXPECT_EQ(wait.not_sent(kEarly), Next::kRetry);
  EXPECT_EQ(wait.pause(), Millis(1));
  EXPECT_EQ(wait.client_left(), Next::kNothing);
  wait.pause_is_over();
  EXPECT_EQ(wait.client_left(), Next::kUnblock);
}

TEST(Wait, PausesGrowToABound) {
  Wait wait = marked(kHello2);
  EXPECT_EQ(wait.pause(), Millis(1));
  EXPECT_EQ(wait.pause(), Millis(2));
  for (int i = 0; i < 10; ++i) EXPECT_LE(wait.pause(), Millis(100));
  EXPECT_EQ(wait.pause(), Millis(100));
}

// The first client of a user may be the only one that has a connection to a node.
TEST(Wait, IsEndedLaterIfAnotherConnectionIsBeingOpened) {
  Wait wait = marked(kHello2);
  EXPECT_EQ(wait.client_left(), Next::kUnblock);
  EXPECT_EQ(wait.not_sent(kEarly), Next::kRetry);
  EXPECT_EQ(wait.client_left(), Next::kUnblock);
  EXPECT_EQ(wait.not_sent(kEarly + Millis(1900)), Next::kRetry);
  EXPECT_EQ(wait.client_left(), Next::kUnblock);
  EXPECT_EQ(wait.not_sent(kEarly + Millis(2000)), Next::kClose);
}

TEST(Wait, ThatCannotBeUnblockedIsClosed) {
  for (const std::string_view hello :
       {"-ERR unknown command 'HELLO'\r\n", "*0\r\n", "*2\r\n$2\r\nid\r\n$1\r\n7\r\n", ""}) {
    EXPECT_EQ(marked(hello).client_left(), Next::kClose) << hello;
  }
  Wait wait = marked(kHello2);
  EXPECT_EQ(wait.client_left(), Next::kUnblock);
  EXPECT_EQ(wait.unblock_answered("-NOPERM no permissions\r\n"), Next::kClose);
}

}  // namespace
}  // namespace heatsink::proxy
