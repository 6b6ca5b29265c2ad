// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/gathering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"
#include "heatsink/relief/write_gatherer.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Nanos kGatherFor = Millis(5);

// The connection that carries gathered writes.
class PlayedCarrier final : public WriteCarrier {
 public:
  struct Sent {
    std::string request;
    Pending pending;
  };
  struct Wire {
    std::vector<Sent> sent;
    std::optional<std::string> refusal;
    bool is_ready = true;
  };
  explicit PlayedCarrier(Wire& wire) : wire_(wire) {}

  bool is_ready(std::string_view /*key*/, const GatheredWrite::Target& /*target*/) override {
    return wire_.is_ready;
  }
  std::optional<std::string> refusal(std::string_view /*key*/,
                                     const GatheredWrite::Target& /*target*/) override {
    return wire_.refusal;
  }
  void send(std::string_view /*key*/, const GatheredWrite::Target& /*target*/,
            std::string_view request, Pending&& pending) override {
    wire_.sent.push_back({std::string(request), std::move(pending)});
  }

 private:
  Wire& wire_;
};

// Two clients of one worker; the proxy gathers writes to "k*".
class GatheringTest : public ReliefTest {
 protected:
  void begin() {
    start({"match=k*,coalesce=5ms"});
    write_gatherer_ = std::make_unique<WriteGatherer>(*shared, loop, counters,
                                                      std::make_unique<PlayedCarrier>(wire_));
    parts->write_gatherer = write_gatherer_.get();
    one_ = std::make_unique<Gathering>(*parts, client.context);
    two_ = std::make_unique<Gathering>(*parts, other.context);
  }

  Outcome sends(Gathering& gathering, Request& write) {
    write.now = now;
    const Outcome outcome = gathering.arrives(write);
    return outcome == Outcome::kPass ? gathering.departs(write) : outcome;
  }
  Outcome sends(Gathering& gathering, std::initializer_list<std::string_view> words) {
    return sends(gathering, request(words));
  }
  // The first client's write, after one that the server has already got.
  void open_window(std::string_view key = "k") {
    ASSERT_EQ(sends(*one_, {"INCR", key}), Outcome::kPass);
  }

  std::vector<std::string> sent() const {
    std::vector<std::string> requests;
    for (const PlayedCarrier::Sent& each : wire_.sent) {
      resp::RequestParser parser;
      const std::string_view bytes = each.request;
      EXPECT_EQ(parser.parse(bytes), resp::ParseStatus::kRequest);
      std::string words;
      for (const std::string_view word : parser.args())
        words += (words.empty() ? "" : " ") + std::string(word);
      requests.push_back(words);
    }
    return requests;
  }
  void server_answers(std::string_view reply) {
    write_gatherer_->answered(wire_.sent.back().pending.number, reply, now);
  }

  PlayedCarrier::Wire wire_;
  PlayedClient client{1}, other{2};
  std::unique_ptr<WriteGatherer> write_gatherer_;
  std::unique_ptr<Gathering> one_, two_;
};

TEST_F(GatheringTest, TheFirstWriteGoesAloneAndTheNextOnesTogether) {
  begin();
  open_window();
  EXPECT_EQ(sends(*one_, {"INCR", "k"}), Outcome::kAnswered);
  EXPECT_EQ(sends(*two_, {"INCRBY", "k", "5"}), Outcome::kAnswered);
  EXPECT_EQ(sends(*one_, {"INCR", "k"}), Outcome::kAnswered);
  EXPECT_THAT(wire_.sent, IsEmpty());
  pass(kGatherFor);
  EXPECT_THAT(sent(), ElementsAre("INCRBY k 7"));
  server_answers(":107\r\n");
  EXPECT_THAT(client.take(),
              ElementsAre("sent 1", "sent 2", "gets 1 :101|", "done 1", "gets 2 :107|", "done 2"));
  EXPECT_THAT(other.take(), ElementsAre("sent 1", "gets 1 :106|", "done 1"));
  EXPECT_EQ(count(copies::Count::kGathered), 3U);
  EXPECT_EQ(count(copies::Count::kGatheredAway), 2U);
}

TEST_F(GatheringTest, AClientThatWantsNoReplyGetsNone) {
  begin();
  open_window();
  client.is_silent = true;
  sends(*one_, {"INCR", "k"});
  pass(kGatherFor);
  server_answers(":2\r\n");
  EXPECT_THAT(client.take(), ElementsAre("sent 1", "done 1"));
}

TEST_F(GatheringTest, WhatTheClientIsToldCountsForLaterReads) {
  begin();
  open_window();
  sends(*one_, {"INCR", "k"});
  pass(kGatherFor);
  server_answers(":2\r\n");
  EXPECT_EQ(client.traffic.last_reply_at, now);
}

// A command that is sent now could reach the server before the gathered write.
TEST_F(GatheringTest, WhileAWriteIsGatheredTheClientsOtherCommandsWait) {
  begin();
  open_window();
  open_window("k2");
  sends(*one_, {"INCR", "k"});
  client.take();
  EXPECT_EQ(sends(*one_, {"GET", "k"}), Outcome::kWaits);
  EXPECT_EQ(sends(*one_, {"PING"}), Outcome::kWaits);
  EXPECT_EQ(sends(*one_, {"SET", "elsewhere", "v"}), Outcome::kWaits);
  EXPECT_EQ(sends(*one_, {"INCR", "k2"}), Outcome::kWaits) << "another key's";
  EXPECT_EQ(sends(*one_, {"DECR", "k"}), Outcome::kWaits) << "another kind's";
  EXPECT_EQ(sends(*one_, {"SET", "k", "v", "NX"}), Outcome::kWaits) << "not to be gathered";
  EXPECT_EQ(client.take().size(), 6U);
  EXPECT_EQ(sends(*two_, {"GET", "k"}), Outcome::kPass) << "other clients do not";
  pass(kGatherFor);
  EXPECT_EQ(sends(*one_, {"GET", "k"}), Outcome::kWaits) << "it is on its way";
  server_answers(":2\r\n");
  EXPECT_EQ(sends(*one_, {"GET", "k"}), Outcome::kPass);
}

TEST_F(GatheringTest, AWriteIsNotGatheredPastTheClientsCommandsInFlight) {
  begin();
  open_window();
  client.traffic.sent = 1;
  Request& write = request({"INCR", "k"});
  EXPECT_EQ(sends(*one_, write), Outcome::kWaits);
  EXPECT_THAT(client.take(), ElementsAre("drains"));
  client.traffic.received = 1;
  EXPECT_EQ(sends(*one_, write), Outcome::kAnswered);
}

TEST_F(GatheringTest, WhatIsStateOfAConnectionIsNotGathered) {
  begin();
  open_window();
  const auto outcome = [&] { return sends(*one_, {"INCR", "k"}); };
  client.state.in_multi_ = true;
  EXPECT_EQ(outcome(), Outcome::kPass);
  client.state.in_multi_ = false;
  client.state.watching_ = true;
  EXPECT_EQ(outcome(), Outcome::kPass);
  client.state.watching_ = false;
  client.state.no_local_reads_ = true;
  EXPECT_EQ(outcome(), Outcome::kPass);
  client.state.no_local_reads_ = false;
  client.state.user_ = ClientState::User::kOther;
  EXPECT_EQ(outcome(), Outcome::kPass);
  client.state.user_ = ClientState::User::kShared;
  client.is_sharing = false;
  EXPECT_EQ(outcome(), Outcome::kPass);
  client.is_sharing = true;
  wire_.is_ready = false;
  EXPECT_EQ(outcome(), Outcome::kPass);
  wire_.is_ready = true;
  EXPECT_EQ(outcome(), Outcome::kAnswered);
}

TEST_F(GatheringTest, WithoutARuleNothingIsGathered) {
  begin();
  open_window("other");
  EXPECT_EQ(sends(*one_, {"INCR", "other"}), Outcome::kPass);
  parts->write_gatherer = nullptr;
  EXPECT_EQ(sends(*one_, {"INCR", "k"}), Outcome::kPass);
  EXPECT_EQ(sends(*one_, {"INCR", "k"}), Outcome::kPass);
}

TEST_F(GatheringTest, IfTheSumIsRefusedEachIsSentByItself) {
  begin();
  open_window();
  sends(*one_, {"INCR", "k"});
  sends(*two_, {"INCRBY", "k", "5"});
  pass(kGatherFor);
  client.take();
  other.take();
  server_answers("-ERR increment or decrement would overflow\r\n");
  EXPECT_THAT(sent(), ElementsAre("INCRBY k 6", "INCR k", "INCRBY k 5"));
  EXPECT_EQ(wire_.sent[1].pending.session, &client);
  EXPECT_EQ(wire_.sent[2].pending.session, &other);
  EXPECT_EQ(wire_.sent[2].pending.ticket, 1U);
  EXPECT_THAT(client.take(), IsEmpty()) << "its reply comes as that to any command";
  EXPECT_EQ(sends(*one_, {"GET", "k"}), Outcome::kPass) << "and nothing is gathered any more";
}

TEST_F(GatheringTest, AnErrorOfOneSetIsThatOfAll) {
  begin();
  ASSERT_EQ(sends(*one_, {"SET", "k", "0"}), Outcome::kPass);
  sends(*one_, {"SET", "k", "1"});
  sends(*two_, {"SET", "k", "2"});
  pass(kGatherFor);
  EXPECT_THAT(sent(), ElementsAre("SET k 2"));
  server_answers("-OOM no memory\r\n");
  EXPECT_THAT(client.take(), ElementsAre("sent 1", "gets 1 -OOM no memory|", "done 1"));
  EXPECT_THAT(other.take(), ElementsAre("sent 1", "gets 1 -OOM no memory|", "done 1"));
}

TEST_F(GatheringTest, WhatIsLostOnTheWayIsLostForEach) {
  begin();
  open_window();
  sends(*one_, {"INCR", "k"});
  other.is_silent = true;
  sends(*two_, {"INCR", "k"});
  pass(kGatherFor);
  write_gatherer_->lost(wire_.sent.back().pending.number, "it was cut");
  EXPECT_THAT(client.take(), ElementsAre("sent 1", "lost 1: it was cut"));
  EXPECT_THAT(other.take(), ElementsAre("sent 1", "lost 1 in silence: it was cut"));
  server_answers(":2\r\n");
  EXPECT_THAT(client.take(), IsEmpty()) << "once";
  EXPECT_EQ(sends(*one_, {"GET", "k"}), Outcome::kPass);
}

TEST_F(GatheringTest, WithoutAConnectionAtTheEndOfTheWindowAllAreLost) {
  begin();
  open_window();
  sends(*one_, {"INCR", "k"});
  wire_.refusal = "it is down";
  pass(kGatherFor);
  EXPECT_THAT(client.take(), ElementsAre("sent 1", "lost 1: it is down"));
  EXPECT_THAT(wire_.sent, IsEmpty());
}

TEST_F(GatheringTest, WithoutAConnectionAfterARefusedSumAllAreLost) {
  begin();
  open_window();
  sends(*one_, {"INCR", "k"});
  sends(*two_, {"INCR", "k"});
  pass(kGatherFor);
  wire_.refusal = "it is down";
  server_answers("-ERR no\r\n");
  EXPECT_THAT(client.take(), ElementsAre("sent 1", "lost 1: it is down"));
  EXPECT_THAT(other.take(), ElementsAre("sent 1", "lost 1: it is down"));
}

TEST_F(GatheringTest, AFullWriteGoesBeforeItsTime) {
  begin();
  open_window();
  sends(*one_, {"INCRBY", "k", "1"});
  for (std::size_t i = 0; i < GatheredWrite::kPartsMax; ++i)
    ASSERT_EQ(sends(*two_, {"INCR", "k"}), Outcome::kAnswered);
  EXPECT_EQ(wire_.sent.size(), 1U);
  pass(kGatherFor);
  EXPECT_EQ(wire_.sent.size(), 2U);
}

TEST_F(GatheringTest, AWriteThatNoGatheringHasRoomForGoesAlone) {
  begin();
  ASSERT_EQ(sends(*one_, {"SET", "k", "first"}), Outcome::kPass);
  const std::string big(GatheredWrite::kBytesMax, 'x');
  EXPECT_EQ(sends(*one_, {"SET", "k", big}), Outcome::kPass);
  EXPECT_THAT(client.take(), IsEmpty());
}

}  // namespace
}  // namespace heatsink::proxy
