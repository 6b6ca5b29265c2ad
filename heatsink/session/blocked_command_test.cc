// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/blocked_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kPopped = "*2\r\n$1\r\nq\r\n$1\r\ne\r\n";
constexpr std::string_view kNothing = "*-1\r\n";

// Has no connection to the server, so that nothing can be put back.
class BlockedCommandTest : public ReliefTest, public BlockedCommand::Client {
 protected:
  // The command waits, as another process has sent it.
  void begin(std::initializer_list<std::string_view> words) {
    start();
    command.emplace(*parts, state, *this);
    CarriedSession::Waiting before;
    Request& asked = request(words);
    before.request = asked.raw;
    before.connection = 7;
    command->go_on(asked, before);
  }
  // The reply comes so long after the command had been taken over.
  bool reply_comes(Nanos later, std::string_view wire) {
    const bool kept = command->keeps_reply(now + later, false, false);
    return command->settle(3, kept ? wire : "");
  }
  std::vector<std::string> take() { return std::exchange(events, {}); }

  Presence is = Presence::kHere;
  bool ends_unread = false;
  ClientState state;
  std::optional<BlockedCommand> command;
  std::vector<std::string> events;

 private:
  Requester& requester() override { return session_; }
  Upstream* own_connection() override { return nullptr; }
  Upstream* connection_beside() override { return nullptr; }
  void lend_name() override { events.emplace_back("lends its name"); }
  void own_request_sent() override { events.emplace_back("sends"); }
  Presence presence() const override { return is; }
  bool has_ended_unread() const override { return ends_unread; }
  bool is_timed_out() const override { return false; }
  void note_ended() override { events.emplace_back("has ended"); }
  void call_later(Nanos /*pause*/, Later what) override {
    events.emplace_back(what == Later::kEndOfWait ? "ends later" : "is offered");
  }
  void look_at_end_of_turn() override { events.emplace_back("looks again"); }
  void give_part(ReplyQueue::Ticket /*ticket*/, std::string_view bytes) override {
    events.emplace_back("gets " + std::to_string(bytes.size()));
  }
  void give_rest(ReplyQueue::Ticket /*ticket*/, std::string_view bytes) override {
    events.emplace_back("gets the last " + std::to_string(bytes.size()));
  }
  bool closed() const override { return false; }
  void close() override { events.emplace_back("closes"); }

  PlayedClient session_{1};
};

TEST_F(BlockedCommandTest, AClientThatIsHereGetsItsReplyDirectly) {
  begin({"BLPOP", "q", "0"});
  EXPECT_TRUE(command->waits());
  EXPECT_TRUE(reply_comes(Millis(50), kPopped));
  EXPECT_TRUE(command->is_idle());
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(BlockedCommandTest, WhatAClientWaitedForThatHasLeftIsNotItsOwn) {
  begin({"BLPOP", "q", "0"});
  is = Presence::kEnded;
  EXPECT_FALSE(reply_comes(Millis(50), kPopped));
  EXPECT_THAT(take(), ElementsAre("has ended", "closes"));
  EXPECT_EQ(count(copies::Count::kNotPutBack), 1U);  // there is no connection
}

TEST_F(BlockedCommandTest, AnEndBehindWhatWasReadCountsToo) {
  begin({"BLPOP", "q", "0"});
  ends_unread = true;
  EXPECT_FALSE(reply_comes(Millis(50), kNothing));
  EXPECT_THAT(take(), ElementsAre("has ended", "closes"));
  EXPECT_EQ(count(copies::Count::kNotPutBack), 0U);  // nothing was given
}

TEST_F(BlockedCommandTest, AReplyAtOnceIsOfferedByItsFirstByte) {
  begin({"BLPOP", "q", "0"});
  is = Presence::kEnded;
  EXPECT_FALSE(reply_comes(Nanos(0), kPopped));
  EXPECT_TRUE(command->is_offering());
  EXPECT_THAT(take(), ElementsAre("gets 1", "is offered"));
  command->offer_taken();
  EXPECT_THAT(take(), ElementsAre("gets the last " + std::to_string(kPopped.size() - 1)));
  EXPECT_TRUE(command->is_idle());
}

TEST_F(BlockedCommandTest, AnOfferThatIsRefusedIsPutBack) {
  begin({"BLPOP", "q", "0"});
  is = Presence::kEnded;
  EXPECT_FALSE(reply_comes(Nanos(0), kPopped));
  take();
  command->offer_refused();
  EXPECT_EQ(count(copies::Count::kNotPutBack), 1U);
  EXPECT_THAT(take(), ElementsAre("closes"));
}

TEST_F(BlockedCommandTest, AnEmptyReplyAtOnceNeedsNoOffer) {
  begin({"BLPOP", "q", "0"});
  is = Presence::kEnded;
  EXPECT_TRUE(reply_comes(Nanos(0), kNothing));
  EXPECT_THAT(take(), ElementsAre("gets " + std::to_string(kNothing.size())));
}

TEST_F(BlockedCommandTest, WithoutAnotherConnectionTheEndIsTriedAgain) {
  begin({"BLPOP", "q", "0"});
  is = Presence::kEnded;
  command->end();
  EXPECT_THAT(take(), ElementsAre("ends later"));
  command->end();  // the pause goes on
  EXPECT_THAT(take(), IsEmpty());
  pass(std::chrono::seconds(3));
  command->pause_is_over();
  command->end();
  EXPECT_THAT(take(), ElementsAre("closes"));
}

TEST_F(BlockedCommandTest, ALostReplyThatWasKeptIsReported) {
  begin({"BLPOP", "q", "0"});
  is = Presence::kEnded;
  EXPECT_TRUE(command->keeps_reply(now + Millis(50), false, false));
  command->lost("the connection was reset");
  EXPECT_EQ(count(copies::Count::kNotPutBack), 1U);
  EXPECT_TRUE(command->is_idle());
}

}  // namespace
}  // namespace heatsink::proxy
