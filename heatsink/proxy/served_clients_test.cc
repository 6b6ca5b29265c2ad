// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/served_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/proxy/served_clients_for_test.h"

namespace heatsink::proxy {
namespace {

using testing::HasSubstr;

TEST_F(ServedClientsTest, AClosedClientIsFreedAtTheEndOfTheTurn) {
  begin();
  const std::uint64_t id = connect();
  EXPECT_EQ(count(copies::Count::kClientsAccepted), 1U);
  clients->session(id)->received("CLIENT GETNAME\r\nQUIT\r\n", now);
  EXPECT_NE(clients->session(id), nullptr);
  end_turn();
  EXPECT_EQ(wires[0].output, "$-1\r\n+OK\r\n");
  EXPECT_TRUE(wires[0].is_closed);
  EXPECT_EQ(clients->session(id), nullptr);
  EXPECT_EQ(shared->clients, 0U);
}

TEST_F(ServedClientsTest, AClientWakesARestingWorker) {
  begin();
  pace->begin(Millis(100), [] {});
  pace->rest();
  EXPECT_EQ(shared->workers_awake, 0U);
  connect();
  EXPECT_EQ(shared->workers_awake, 1U);
}

TEST_F(ServedClientsTest, NoTwoClientsHaveTheSameNumber) {
  begin();
  const std::uint64_t id = connect();
  shared->clients.fetch_add(1);
  clients->open(id, stream(), "10.0.0.2:7000");
  EXPECT_EQ(clients->all().size(), 2U);
  say(id, "CLIENT GETNAME\r\n");
  EXPECT_EQ(wires[0].output, "$-1\r\n");
  EXPECT_EQ(wires[1].output, "");
}

TEST_F(ServedClientsTest, AWaitingRequestIsTriedAgainInTheSameTurn) {
  begin();
  ask_server(connect());
  EXPECT_EQ(wires[0].output, "");
  lose_server();
  EXPECT_THAT(wires[0].output, HasSubstr("upstream a is down"));
}

TEST_F(ServedClientsTest, AClientMovesWithItsConnection) {
  begin();
  const std::uint64_t id = connect();
  MovedClient moved = clients->move_out(id);
  EXPECT_EQ(clients->session(id), nullptr);
  EXPECT_EQ(shared->clients, 1U) << "it is a client of the proxy all the time";
  const std::uint64_t other = connect();
  moved.session.id = other;  // of another process
  EXPECT_NE(clients->take_in(std::move(moved)).id(), other);
  EXPECT_EQ(clients->all().size(), 2U);
  EXPECT_FALSE(wires[0].is_closed);
}

TEST_F(ServedClientsTest, AClientThatDoesNotReadIsCutOff) {
  begin();
  const std::uint64_t slow = connect(), slower = connect();
  wires[0].reads = wires[1].reads = false;
  say(slow, "CLIENT GETNAME\r\n");
  say(slower, "CLIENT GETNAME\r\n");
  EXPECT_TRUE(clients->has_slow());
  pass(shared->options().slow_client_timeout);
  clients->cut_off_slow(loop.now());
  EXPECT_TRUE(clients->has_slow()) << "exactly so long is not longer";
  wires[0].reads = true;
  clients->session(slow)->writable();
  pass(Nanos(1));
  clients->cut_off_slow(loop.now());
  end_turn();
  EXPECT_FALSE(clients->has_slow());
  EXPECT_NE(clients->session(slow), nullptr);
  EXPECT_EQ(clients->session(slower), nullptr);
  EXPECT_EQ(count(copies::Count::kClientsCutOff), 1U);
}

TEST_F(ServedClientsTest, TheLargestClientsAreClosedWhenMemoryIsExhausted) {
  begin();
  const std::uint64_t small = connect(), large = connect();
  const std::string half(3 * MemoryBudget::kStepBytes, 'x');
  say(large, "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1000000\r\n" + half);
  ASSERT_GT(clients->session(large)->held_bytes(), MemoryBudget::kStepBytes);
  clients->shed_later();
  end_turn();
  EXPECT_EQ(count(copies::Count::kClientsShed), 0U) << "there is memory left";
  shared->memory.set_max(Bytes{MemoryBudget::kStepBytes});
  end_turn();
  EXPECT_NE(clients->session(large), nullptr) << "only when it is due";
  clients->shed_later();
  end_turn();
  EXPECT_EQ(clients->session(large), nullptr);
  EXPECT_NE(clients->session(small), nullptr);
  EXPECT_EQ(count(copies::Count::kClientsShed), 1U);
}

TEST_F(ServedClientsTest, ARoundOfMeasuringTakesASecond) {
  constexpr std::size_t kMany = 500;
  begin();
  for (std::size_t i = 0; i < kMany; ++i) connect();
  ASSERT_TRUE(clients->tend(loop.now())) << "the first one visits all";
  std::optional<std::uint64_t> bytes;
  int calls = 0;
  for (; !bytes && calls < 20; ++calls) {
    pass(Millis(100));
    bytes = clients->tend(loop.now());
  }
  EXPECT_GE(calls, 9);
  EXPECT_LE(calls, 11);
  ASSERT_TRUE(bytes);
  EXPECT_GT(*bytes, kMany * sizeof(Session));
  EXPECT_LT(*bytes, kMany * 2 * sizeof(Session));
}

}  // namespace
}  // namespace heatsink::proxy
