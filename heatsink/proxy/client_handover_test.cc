// SPDX-License-Identifier: Apache-2.0
// Clients of another process, which is played. Their descriptors are of /dev/null, so that they can
// be given.
#include "heatsink/proxy/client_handover.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

#include "heatsink/proxy/served_clients_for_test.h"

namespace heatsink::proxy {
namespace {

using Sent = handover::Channel::Sent;

class ClientHandoverTest : public ServedClientsTest {
 protected:
  static constexpr std::size_t kIndex = 3;  // of the worker

  void begin_clients() {
    begin();
    handover.emplace(kIndex, *clients, loop, counters);
  }
  std::uint64_t connect_plain() {
    return connect(net::Stream(net::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))));
  }
  void begin_handover() {
    handover->announce();
    handover->begin(
        [this](const handover::Message& message, std::span<const int> descriptors) {
          EXPECT_EQ(descriptors.size(), 1U);
          if (answer == Sent::kSent) tokens.push_back(std::get<handover::Client>(message).token);
          return answer;
        },
        handover::kVersion);
  }

  Sent answer = Sent::kSent;          // of the channel
  std::vector<std::uint64_t> tokens;  // of the clients that were given
  std::optional<ClientHandover> handover;
};

TEST_F(ClientHandoverTest, AGivenClientIsForgottenOnceTheOtherProcessHasIt) {
  begin_clients();
  connect_plain();
  begin_handover();
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(ClientHandover::worker_of(tokens[0]), kIndex);
  EXPECT_TRUE(clients->all().empty());
  EXPECT_EQ(shared->clients, 0U);
  EXPECT_EQ(handover->to_give(), 1U);
  handover->taken(tokens[0]);
  handover->taken(tokens[0]);
  EXPECT_EQ(handover->to_give(), 0U);
  EXPECT_EQ(count(copies::Count::kClientsHandedOver), 1U);
}

TEST_F(ClientHandoverTest, TlsAndPlayedStreamsStay) {
  begin_clients();
  const std::uint64_t id = connect();
  begin_handover();
  EXPECT_TRUE(tokens.empty());
  EXPECT_EQ(handover->to_give(), 0U);
  EXPECT_NE(clients->session(id), nullptr);
}

TEST_F(ClientHandoverTest, ABusyClientIsGivenOnceItIsReady) {
  begin_clients();
  ask_server(connect_plain());
  begin_handover();
  EXPECT_TRUE(tokens.empty());
  EXPECT_EQ(handover->to_give(), 1U);
}

TEST_F(ClientHandoverTest, AFullChannelIsTriedAgain) {
  begin_clients();
  connect_plain();
  connect_plain();
  answer = Sent::kFull;
  begin_handover();
  EXPECT_EQ(handover->to_give(), 2U);
  EXPECT_EQ(clients->all().size(), 2U);
  answer = Sent::kSent;
  pass(ClientHandover::kGiveInterval);
  EXPECT_EQ(tokens.size(), 2U);
}

TEST_F(ClientHandoverTest, AClientThatIsTooBigStays) {
  begin_clients();
  const std::uint64_t id = connect_plain();
  answer = Sent::kTooBig;
  begin_handover();
  EXPECT_EQ(handover->to_give(), 0U);
  EXPECT_NE(clients->session(id), nullptr);
}

TEST_F(ClientHandoverTest, ARefusedClientGoesOnHereAndIsGivenAgainAfterAPause) {
  begin_clients();
  const std::uint64_t id = connect_plain();
  begin_handover();
  ASSERT_EQ(tokens.size(), 1U);
  handover->refused(tokens[0]);
  EXPECT_NE(clients->session(id), nullptr);
  EXPECT_EQ(shared->clients, 1U);
  EXPECT_EQ(handover->to_give(), 1U);
  pass(ClientHandover::kAfterRefusal - Nanos(1));
  EXPECT_EQ(tokens.size(), 1U);
  pass(ClientHandover::kGiveInterval);
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_NE(tokens[1], tokens[0]);
}

TEST_F(ClientHandoverTest, AClientThatIsRefusedTooOftenStays) {
  begin_clients();
  connect_plain();
  begin_handover();
  for (unsigned i = 0; i < ClientHandover::kRefusalsMax; ++i) {
    ASSERT_EQ(tokens.size(), i + 1);
    handover->refused(tokens.back());
    pass(ClientHandover::kAfterRefusal);
  }
  EXPECT_EQ(tokens.size(), ClientHandover::kRefusalsMax);
  EXPECT_EQ(handover->to_give(), 0U);
}

TEST_F(ClientHandoverTest, TheEndTakesBackWhatTheOtherProcessMayNotHave) {
  begin_clients();
  const std::uint64_t id = connect_plain();
  begin_handover();
  handover->end(true);
  EXPECT_FALSE(handover->is_on());
  EXPECT_EQ(handover->to_give(), 0U);
  EXPECT_NE(clients->session(id), nullptr);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(tokens.size(), 1U) << "no client is given any more";
}

TEST_F(ClientHandoverTest, AnAnswerMayComeAfterTheEnd) {
  begin_clients();
  const std::uint64_t refused = connect_plain();
  connect_plain();
  begin_handover();
  ASSERT_EQ(tokens.size(), 2U);
  handover->end(false);
  EXPECT_EQ(handover->to_give(), 2U);
  EXPECT_TRUE(clients->all().empty());
  for (const std::uint64_t token : tokens) handover->refused(token);
  EXPECT_EQ(handover->to_give(), 0U);
  EXPECT_NE(clients->session(refused), nullptr);
}

}  // namespace
}  // namespace heatsink::proxy
