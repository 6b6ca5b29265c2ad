// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/client_drain.h"

#include <gtest/gtest.h>

#include "heatsink/proxy/served_clients_for_test.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kDrainLimit = std::chrono::seconds(10);

class ClientDrainTest : public ServedClientsTest {
 protected:
  void begin_drain() {
    shared->drain.workers_to_begin = 1;
    drain.emplace(*shared, *clients, loop, counters);
    drain->begin(kDrainLimit);
    end_turn();
  }
  void wait(Nanos time) {
    pass(time);
    end_turn();
  }
  std::uint64_t left(Stay why) const {
    return shared->drain.clients[static_cast<std::size_t>(why)].load();
  }

  std::optional<ClientDrain> drain;
};

TEST_F(ClientDrainTest, AClientAtRestIsHalfClosedAndThenClosed) {
  begin();
  const std::uint64_t id = connect();
  begin_drain();
  EXPECT_TRUE(drain->is_on());
  EXPECT_EQ(shared->drain.workers_to_begin, 0U);
  EXPECT_TRUE(wires[0].is_closed) << "its output";
  EXPECT_EQ(left(Stay::kClosing), 1U);
  EXPECT_EQ(shared->drain.closed, 1U);
  EXPECT_EQ(count(copies::Count::kClientsDrained), 1U);
  wait(Drain::kLinger - Nanos(1));
  EXPECT_NE(clients->session(id), nullptr);
  wait(Nanos(1) + ClientDrain::kStepInterval);
  EXPECT_EQ(clients->session(id), nullptr);
  EXPECT_EQ(left(Stay::kClosing), 0U);
  EXPECT_EQ(shared->drain.cut, 0U);
}

TEST_F(ClientDrainTest, ClientsAreClosedOneAfterTheOther) {
  begin();
  for (int i = 0; i < 3; ++i) connect();
  begin_drain();
  EXPECT_EQ(shared->drain.closed, 1U);
  wait(ClientDrain::kStepInterval);
  EXPECT_EQ(shared->drain.closed, 3U);
}

TEST_F(ClientDrainTest, AClientThatWaitsGetsItsReplyFirst) {
  begin();
  const std::uint64_t id = connect();
  ask_server(id);
  begin_drain();
  wait(std::chrono::seconds(1));
  EXPECT_EQ(left(Stay::kReplies), 1U);
  EXPECT_FALSE(wires[0].is_closed);
  lose_server();
  EXPECT_NE(wires[0].output, "");
  wait(ClientDrain::kStepInterval);
  EXPECT_EQ(left(Stay::kReplies), 0U);
  EXPECT_TRUE(wires[0].is_closed);
}

TEST_F(ClientDrainTest, AClientThatNeverGetsItsReplyIsCut) {
  begin();
  const std::uint64_t id = connect();
  ask_server(id);
  begin_drain();
  wait(kDrainLimit + Drain::kLast - Nanos(1));
  EXPECT_NE(clients->session(id), nullptr);
  wait(ClientDrain::kStepInterval);
  EXPECT_EQ(clients->session(id), nullptr);
  EXPECT_EQ(shared->drain.cut, 1U);
  EXPECT_EQ(count(copies::Count::kClientsCutByDrain), 1U);
}

}  // namespace
}  // namespace heatsink::proxy
