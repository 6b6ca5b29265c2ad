// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/blocked_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/redis/upstream_address.h"
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
    const bool kept = command->keeps_reply(now + later, false);
    return command->take(pending(), true, kept ? wire : "");
  }
  static Pending pending() {
    Pending out;
    out.of = BlockedCommand::of(BlockedCommand::Asked::kCommand);
    out.ticket = 3;
    return out;
  }
  std::vector<std::string> take() { return std::exchange(events, {}); }

  // In front of a cluster: the node that WAIT looks for a connection to; "": none.
  std::string asks_for(Request& wait) {
    EXPECT_EQ(command->run_wait(wait), connection);
    const redis::UpstreamAddress* const node =
        wait.has_waited() ? wait.waited_for().redirected_to : nullptr;
    return node == nullptr ? "" : node->url().address.text();
  }

  Presence is = Presence::kHere;
  Step connection = Step::kStall;  // kDone: there is none
  bool is_cluster = false, is_busy = false;
  bool ends_unread = false;
  ClientState state;
  std::optional<BlockedCommand> command;
  std::vector<std::string> events;

 private:
  Requester& requester() override { return session_; }
  bool has_cluster() const override { return is_cluster; }
  std::shared_ptr<const topology::SlotMap> slot_map() const override { return nullptr; }
  bool is_drained() const override { return !is_busy; }
  bool has_state() const override { return false; }
  bool is_bound() const override { return false; }
  std::optional<Step> departs(Request& /*request*/) override { return std::nullopt; }
  std::optional<Step> own_connection_for(Request& /*request*/) override { return connection; }
  Step refuse_without_connection(Request& /*request*/) override {
    return reply_error("ERR no connection");
  }
  Step send_on_own(Request& /*request*/, PartRequest /*of*/) override { return Step::kDone; }
  Step stall_for(Awaited /*why*/) override {
    events.emplace_back("stalls");
    return Step::kStall;
  }
  Step reply_error(std::string_view text) override {
    events.push_back("-" + std::string(text));
    return Step::kDone;
  }
  Upstream* own_connection() override { return nullptr; }
  Upstream* connection_beside() override { return nullptr; }
  void lend_name() override { events.emplace_back("lends its name"); }
  void own_request_sent() override { events.emplace_back("sends"); }
  Presence presence() const override { return is; }
  bool has_ended_unread() const override { return ends_unread; }
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
  void ask_node(ReplyQueue::Ticket /*ticket*/, std::string&& request,
                redis::UpstreamAddress& node) override {
    events.push_back("asks " + node.url().address.text() + " " + std::to_string(request.size()));
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
  EXPECT_TRUE(command->keeps_reply(now + Millis(50), false));
  EXPECT_TRUE(command->lost(pending(), "the connection was reset"));
  EXPECT_EQ(count(copies::Count::kNotPutBack), 1U);
  EXPECT_TRUE(command->is_idle());
}

TEST_F(BlockedCommandTest, WithoutAConnectionTheCommandIsRefused) {
  begin({"BLPOP", "q", "0"});
  command->drop();
  EXPECT_EQ(command->run(request({"BLPOP", "q", "0"})), Step::kStall);
  EXPECT_THAT(take(), IsEmpty()) << "the connection is being opened";
  connection = Step::kDone;
  EXPECT_EQ(command->run(request({"BLPOP", "q", "0"})), Step::kDone);
  EXPECT_THAT(take(), ElementsAre("-ERR no connection"));
}

// In front of a cluster, whose client has written to two nodes.
class WaitAtNodesTest : public BlockedCommandTest {
 protected:
  WaitAtNodesTest() {
    is_cluster = true;
    state.written_.note(a);
    state.written_.note(b);
    begin({"WAIT", "1", "0"});
    command->drop();
  }
  // The request has been sent.
  void goes_on(Request& asked) {
    CarriedSession::Waiting before;
    before.request = asked.raw;
    command->go_on(asked, before);
  }

  redis::UpstreamAddress a{net::parse_upstream_url("redis://127.0.0.1:1").value()};
  redis::UpstreamAddress b{net::parse_upstream_url("redis://127.0.0.1:2").value()};
};

TEST_F(WaitAtNodesTest, ItAsksOneAfterTheOther) {
  Request& first = request({"WAIT", "1", "0"});
  is_busy = true;
  command->run_wait(first);
  EXPECT_THAT(take(), ElementsAre("stalls")) << "a node may refuse a write";
  is_busy = false;
  EXPECT_EQ(asks_for(first), "127.0.0.1:1");
  EXPECT_EQ(asks_for(first), "127.0.0.1:1") << "it has not answered";
  goes_on(first);
  EXPECT_FALSE(reply_comes(Millis(50), ":2\r\n"));
  EXPECT_THAT(take(), ElementsAre(testing::StartsWith("asks 127.0.0.1:2 ")));
  EXPECT_TRUE(command->asks_nodes() && !command->waits());
  Request& again = request({"WAIT", "1", "0"});
  EXPECT_EQ(asks_for(again), "127.0.0.1:2");
  goes_on(again);
  EXPECT_TRUE(reply_comes(Millis(50), ":1\r\n"));
  EXPECT_THAT(take(), ElementsAre("gets 4"));
  EXPECT_TRUE(command->is_idle() && !command->asks_nodes());
}

TEST_F(WaitAtNodesTest, AWaitThatIsLostAsksNoOtherNode) {
  Request& asked = request({"WAIT", "1", "0"});
  EXPECT_EQ(asks_for(asked), "127.0.0.1:1");
  goes_on(asked);
  EXPECT_TRUE(command->keeps_reply(now, false));
  EXPECT_TRUE(command->lost(pending(), "the connection was reset"));
  EXPECT_FALSE(command->asks_nodes() || command->waits());
  EXPECT_EQ(count(copies::Count::kNotPutBack), 0U);
}

TEST_F(WaitAtNodesTest, WithoutAConnectionItAsksNoOtherNode) {
  connection = Step::kDone;
  asks_for(request({"WAIT", "1", "0"}));
  EXPECT_THAT(take(), ElementsAre("-ERR no connection"));
  EXPECT_FALSE(command->asks_nodes());
}

}  // namespace
}  // namespace heatsink::proxy
