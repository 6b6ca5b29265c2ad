// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/reply_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace heatsink::proxy {
namespace {

class ReplyQueueTest : public testing::Test {
 protected:
  std::string out() {
    std::string bytes(out_.view());
    out_.clear();
    return bytes;
  }
  void put(ReplyQueue::Ticket ticket, std::string_view bytes) { queue_.put(ticket, bytes, out_); }
  void end(ReplyQueue::Ticket ticket) { queue_.end(ticket, out_); }
  void add(std::string_view reply) { queue_.add(reply, out_); }

  ReplyQueue queue_;
  ByteBuffer out_;
};

TEST_F(ReplyQueueTest, TheFirstReplyLeavesAsItComes) {
  const ReplyQueue::Ticket first = queue_.expect();
  put(first, "$3\r\n");
  EXPECT_EQ(out(), "$3\r\n");
  put(first, "abc\r\n");
  EXPECT_EQ(out(), "abc\r\n");
  end(first);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(ReplyQueueTest, ALaterReplyWaitsForThoseBeforeIt) {
  const ReplyQueue::Ticket first = queue_.expect(), second = queue_.expect();
  put(second, "2");
  end(second);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(queue_.kept_bytes(), 1u);
  put(first, "1");
  end(first);
  EXPECT_EQ(out(), "12");
  EXPECT_EQ(queue_.kept_bytes(), 0u);
}

TEST_F(ReplyQueueTest, AHalfReplyFollowsAtOnceWhenItBecomesTheFirst) {
  const ReplyQueue::Ticket first = queue_.expect(), second = queue_.expect();
  put(second, "2 of ");
  end(first);
  EXPECT_EQ(out(), "2 of ");
  put(second, "2");
  EXPECT_EQ(out(), "2");
  end(second);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(ReplyQueueTest, ARequestWithoutAReplyHoldsNothingUpOnceItEnded) {
  const ReplyQueue::Ticket silent = queue_.expect(), second = queue_.expect();
  put(second, "2");
  end(silent);
  EXPECT_EQ(out(), "2");
}

TEST_F(ReplyQueueTest, RepliesOfOursStandWhereTheyWereAdded) {
  add("a");
  EXPECT_EQ(out(), "a");
  const ReplyQueue::Ticket first = queue_.expect();
  add("b");
  add("c");
  const ReplyQueue::Ticket second = queue_.expect();
  add("d");
  put(second, "2");
  end(second);
  EXPECT_EQ(out(), "");
  put(first, "1");
  end(first);
  EXPECT_EQ(out(), "1bc2d");
  EXPECT_TRUE(queue_.empty());
}

TEST_F(ReplyQueueTest, NextIsTheTicketOfTheNextRequest) {
  static_cast<void>(queue_.expect());
  add("own");  // occupies an entry
  const ReplyQueue::Ticket next = queue_.next();
  EXPECT_EQ(next, queue_.expect());
}

TEST_F(ReplyQueueTest, WhatIsClearedIsNotToldAndItsMemoryIsGivenBack) {
  for (int i = 0; i < 1000; ++i) put(queue_.expect(), "x");
  EXPECT_GT(queue_.kept_bytes(), 0u);
  out_.clear();
  queue_.clear();
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.kept_bytes(), 0u);
  EXPECT_EQ(queue_.capacity_bytes(), 0u);
  const ReplyQueue::Ticket after = queue_.expect();
  put(after, "y");
  end(after);
  EXPECT_EQ(out(), "y");
}

TEST_F(ReplyQueueTest, ADeepPipelineLeavesNoMemoryBehind) {
  std::vector<ReplyQueue::Ticket> tickets;
  for (int i = 0; i < 10'000; ++i) tickets.push_back(queue_.expect());
  for (const ReplyQueue::Ticket ticket : tickets) end(ticket);
  EXPECT_LT(queue_.capacity_bytes(), 10'000u);
}

TEST_F(ReplyQueueTest, APushCanStandBehindAnyReplyThatIsOwed) {
  const ReplyQueue::Ticket first = queue_.expect(), second = queue_.expect();
  add("own ");
  queue_.put_behind(first, "push1 ");
  queue_.put_behind(second, "push2 ");
  EXPECT_EQ(queue_.kept_bytes(), std::string("own push1 push2 ").size());
  put(second, "b ");
  end(second);
  put(first, "a1");
  EXPECT_EQ(queue_.first(), first);
  queue_.put_behind(first, "push3 ");
  put(first, "a2 ");
  end(first);
  EXPECT_EQ(out(), "a1a2 push1 push3 b own push2 ");
  EXPECT_EQ(queue_.kept_bytes(), 0u);
}

TEST_F(ReplyQueueTest, WhatIsTakenBackTakesWhatStandsBehindItAlong) {
  const ReplyQueue::Ticket first = queue_.expect();
  add("own ");
  const ReplyQueue::Ticket again = queue_.expect();
  add("push ");
  queue_.take_back(again);
  put(first, "a ");
  end(first);
  EXPECT_EQ(out(), "a own ");
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.kept_bytes(), 0u);
}

// The client gets replies in the order of its requests, in whatever order they arrive and end.
TEST_F(ReplyQueueTest, AnyOrderOfRepliesGivesTheOrderOfRequests) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string expected, got;
    std::vector<std::pair<ReplyQueue::Ticket, std::string>> open;  // the rest of each reply
    for (int step = 0; step < 40; ++step) {
      const unsigned dice = random() % 4;
      const std::string name = std::to_string(round) + "." + std::to_string(step) + " ";
      if (dice == 0) {
        add(name);
        expected += name;
      } else if (dice == 1) {
        open.emplace_back(queue_.expect(), name);
        expected += name;
      } else if (!open.empty()) {
        const std::size_t which = random() % open.size();
        auto& [ticket, rest] = open[which];
        const std::size_t part = std::min<std::size_t>(rest.size(), random() % 4);
        put(ticket, rest.substr(0, part));
        rest.erase(0, part);
        if (rest.empty()) {
          end(ticket);
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        }
      }
      got += out();
      ASSERT_EQ(got, expected.substr(0, got.size()));
    }
    while (!open.empty()) {
      put(open.back().first, open.back().second);
      end(open.back().first);
      open.pop_back();
    }
    got += out();
    ASSERT_EQ(got, expected);
    ASSERT_TRUE(queue_.empty());
    ASSERT_EQ(queue_.kept_bytes(), 0u);
  }
}

}  // namespace
}  // namespace heatsink::proxy
