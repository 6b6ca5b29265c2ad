// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/own_requester.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;

// A machine whose requests are already on their way.
class Machine final : public OwnRequester {
 public:
  void ends(ReplyQueue::Ticket ticket) {
    Pending pending;
    pending.ticket = ticket;
    reply_done(pending, true, {}, {});
  }
  void fails(ReplyQueue::Ticket ticket) {
    Pending pending;
    pending.ticket = ticket;
    reply_lost(pending, true, "gone");
  }
  std::vector<std::string> events;

 private:
  void answered(ReplyQueue::Ticket ticket, const resp::Value& reply) override {
    events.push_back(std::to_string(ticket) + (reply.is_error() ? " error" : " " + reply.text));
  }
  void lost(ReplyQueue::Ticket ticket, const std::string& problem) override {
    events.push_back(std::to_string(ticket) + " lost: " + problem);
  }
};

TEST(OwnRequester, RepliesOfSeveralConnectionsArriveInParts) {
  Machine machine;
  machine.take_reply(1, "$3\r\no");
  machine.take_reply(2, "+OK");
  machine.take_reply(1, "ne\r\n");
  machine.take_reply(2, "\r\n");
  machine.ends(2);
  machine.ends(1);
  EXPECT_THAT(machine.events, ElementsAre("2 OK", "1 one"));
}

TEST(OwnRequester, ALostReplyLeavesNothingBehind) {
  Machine machine;
  machine.take_reply(1, "$3\r\no");
  machine.fails(1);
  machine.take_reply(1, "+OK\r\n");
  machine.ends(1);
  EXPECT_THAT(machine.events, ElementsAre("1 lost: gone", "1 OK"));
}

TEST(OwnRequester, LongAndBrokenRepliesAreErrors) {
  Machine machine;
  machine.take_reply(1, "$9999999\r\n");
  for (int i = 0; i < 20; ++i) machine.take_reply(1, std::string(10'000, 'x'));
  machine.ends(1);
  machine.take_reply(2, "?");
  machine.ends(2);
  machine.ends(3);
  EXPECT_THAT(machine.events, ElementsAre("1 error", "2 error", "3 error"));
}

}  // namespace
}  // namespace heatsink::proxy
