// SPDX-License-Identifier: Apache-2.0
// A whole session: clients that leave, half or whole, or do not read, or take too much memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SessionEndTest : public SessionTest {
 protected:
  SessionEndTest() { open_shared_connection(); }
  void end_input(bool broken) {
    in_turn([this, broken] { host_.session->input_ended(broken); });
  }
};

TEST_F(SessionEndTest, AClientThatEndsItsOutputStillGetsItsReplies) {
  server_.unanswered = {"GET"};
  send({"GET a", "GET b"});
  end_input(false);
  EXPECT_FALSE(client().is_closed);
  EXPECT_FALSE(client().is_read);
  server_.say(1, "+a\r\n+b\r\n");
  pass();
  EXPECT_EQ(got(), "+a|+b|");
  EXPECT_TRUE(client().is_closed);
  EXPECT_TRUE(host_.is_ended);
}

TEST_F(SessionEndTest, AClientThatIsOwedNothingIsClosedAtItsEnd) {
  end_input(false);
  EXPECT_TRUE(client().is_closed);
  EXPECT_TRUE(host_.is_ended);
}

TEST_F(SessionEndTest, AnEndThatIsToldAgainIsThatOfTheConnection) {
  server_.unanswered = {"GET"};
  send({"GET a"});
  end_input(false);
  end_input(false);
  EXPECT_TRUE(client().is_closed);
}

// Its worker must not free it: the connection still has to tell it of the reply.
TEST_F(SessionEndTest, ABrokenClientIsClosedAtOnceAndBuriedOnceNothingIsInFlight) {
  server_.unanswered = {"GET"};
  send({"GET a"});
  end_input(true);
  EXPECT_TRUE(client().is_closed);
  EXPECT_FALSE(host_.is_ended);
  server_.say(1, "+a\r\n");
  pass();
  EXPECT_EQ(got(), "");
  EXPECT_TRUE(host_.is_ended);
}

TEST_F(SessionEndTest, AClientThatCannotBeWrittenToIsClosed) {
  client().is_lost = true;
  send({"GET a"});
  EXPECT_TRUE(client().is_closed);
  EXPECT_TRUE(host_.is_ended);
}

TEST_F(SessionEndTest, AfterQuitNothingIsCarriedOut) {
  send({"GET a", "QUIT", "SET b 1"});
  EXPECT_EQ(got(), "+GET a|+OK|");
  EXPECT_THAT(asked(), ElementsAre("1: GET a"));
  EXPECT_TRUE(client().is_closed);
}

// ---- commands that wait on the server

TEST_F(SessionEndTest, TheWaitOfAClientThatLeavesIsEndedOnTheServer) {
  server_.unanswered = {"BLPOP"};
  server_.replies["CLIENT"] = ":1\r\n";
  send({"BLPOP q 0"});
  EXPECT_THAT(asked(), ElementsAre("2: HELLO", "2: BLPOP q 0"));
  end_input(true);
  EXPECT_TRUE(client().is_closed);
  EXPECT_THAT(asked(), ElementsAre("1: CLIENT UNBLOCK 8 ERROR"));
  EXPECT_FALSE(host_.is_ended);
  server_.say(2, "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
  pass();
  EXPECT_TRUE(host_.is_ended);
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SessionEndTest, WhatWasPoppedForAClientThatHadLeftIsPutBack) {
  server_.unanswered = {"BLPOP"};
  server_.replies["CLIENT"] = ":0\r\n";
  send({"BLPOP q 0"});
  asked();
  server_.say(2, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n");
  client().has_ended = true;
  end_input(true);
  EXPECT_THAT(asked(), testing::Contains("2: LPUSH q x"));
  EXPECT_EQ(count(copies::Count::kPutBack), 1u);
  EXPECT_TRUE(host_.is_ended);
  EXPECT_EQ(got(), "");
}

// ---- clients that do not read

TEST_F(SessionEndTest, OfAClientThatDoesNotReadRequestsAreLeftUnread) {
  make_hot();
  client().room = 0;
  std::string many;
  for (int i = 0; i < 2000; ++i) many += wire_of("GET hot");
  receive(many);
  const std::uint64_t hits = count(copies::Count::kLocalHits);
  EXPECT_GT(hits, 500u);
  EXPECT_LT(hits, 1000u);         // a quarter of proxy.client-output-limit, in replies of 12 bytes
  EXPECT_TRUE(client().is_read);  // or its end would not be seen
  receive(many);
  EXPECT_FALSE(client().is_read);
  EXPECT_EQ(count(copies::Count::kLocalHits), hits);
  client().room = 1'000'000;
  in_turn([this] { host_.session->writable(); });
  EXPECT_EQ(count(copies::Count::kLocalHits), 4000u);
  EXPECT_EQ(client().got.size(), 4000u * 12);
  EXPECT_TRUE(client().is_read);
}

// Messages cannot be asked for again, as replies can, and its server cannot be held back for long.
TEST_F(SessionEndTest, ASubscriberThatDoesNotReadIsCutOffAtItsLimit) {
  server_.replies["SUBSCRIBE"] = "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n";
  send({"SUBSCRIBE c"});
  EXPECT_EQ(got(), "*3|$9|subscribe|$1|c|:1|");
  client().room = 0;
  const std::string text = "$30000\r\n" + std::string(30'000, 'm') + "\r\n";
  const std::string message = "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n" + text;
  server_.say(2, message);
  pass();
  EXPECT_FALSE(client().is_closed);
  client().room = message.size();
  in_turn([this] { host_.session->writable(); });
  EXPECT_EQ(got(), lines_of(message));
  server_.say(2, message + message);
  pass();
  EXPECT_TRUE(client().is_closed);
  EXPECT_EQ(count(copies::Count::kClientsCutOff), 1u);
}

// ---- memory

TEST_F(SessionEndTest, WhatAClientHoldsIsCountedAndWhenAllHoldTooMuchTheWorkerIsTold) {
  const std::uint64_t of_others = 2'000'000;  // more than proxy.maximum-memory
  server_.unanswered = {"GET"};
  send({"GET a"});
  EXPECT_EQ(host_.session->held_bytes(), 0u);
  host_.shared.memory.change(of_others);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += wire_of("GET b");
  receive(many);
  EXPECT_GE(host_.session->held_bytes(), proxy::MemoryBudget::kStepBytes);
  EXPECT_TRUE(host_.is_shed_due);
  in_turn([this] { host_.session->close(); });
  EXPECT_EQ(host_.shared.memory.used_bytes(), of_others);
}

class SessionShrinkTest : public SessionEndTest {
 protected:
  // Twice, as a worker does: a client that has done something since the first keeps its buffers.
  void shrink() {
    for (int i = 0; i < 2; ++i) in_turn([this] { host_.session->shrink(); });
  }
  std::size_t idle_bytes() {
    shrink();
    return host_.session->memory_bytes();
  }
};

TEST_F(SessionShrinkTest, AnIdleClientKeepsNoBuffers) {
  const std::size_t before = idle_bytes();
  EXPECT_EQ(client().output().capacity(), 0u);
  std::string many = "DEL";
  for (int i = 0; i < 300; ++i) many += " k";
  send({many});
  send({"GET a", "GET b", "GET c", "GET d"});
  receive("*1\r\n$4\r\nPI");
  receive("NG\r\n");
  EXPECT_GT(host_.session->memory_bytes(), before + 300 * 16);
  EXPECT_EQ(idle_bytes(), before);
}

TEST_F(SessionShrinkTest, ABusyClientKeepsItsSmallBuffers) {
  shrink();
  send({"GET a"});
  in_turn([this] { host_.session->shrink(); });
  EXPECT_GT(client().output().capacity(), 0u);
}

TEST_F(SessionShrinkTest, AHalfRequestAndUnreadRepliesAreKept) {
  receive("*2\r\n$3\r\nGET\r\n$1\r\n");
  shrink();
  client().room = 0;
  receive("a\r\n");
  shrink();
  EXPECT_EQ(got(), "");
  client().room = 100;
  in_turn([this] { host_.session->writable(); });
  EXPECT_EQ(got(), "+GET a|");
}

}  // namespace
}  // namespace heatsink::simulation
