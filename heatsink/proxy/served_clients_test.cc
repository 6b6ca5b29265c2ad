// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/served_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "heatsink/proxy/served_clients_for_test.h"

namespace heatsink::proxy {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

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

// Otherwise the requests of other clients would wait for all sends.
TEST_F(ServedClientsTest, PushesToManyGoOutInSlices) {
  constexpr NearTable::Number kMany = 600;
  options.client_tracking = policy::ClientTracking::kPays;
  begin();
  NearTable table(shared->kept_names, shared->clients_told_at_once);
  session_parts->near_table = &table;
  std::vector<std::uint64_t> ids;
  for (NearTable::Number i = 0; i < kMany; ++i) {
    ids.push_back(connect_near());
    ASSERT_TRUE(table.keep(i, {7}, "k", [] {
      NearBasis until_told;
      until_told.is_proven = false;
      until_told.ends_at = TimePoint::max();
      return std::optional(until_told);
    }));
  }
  const auto told = [&] {
    return std::count_if(wires.begin(), wires.end(),
                         [](const PlayedWire& wire) { return !wire.output.empty(); });
  };
  table.changed({7});
  EXPECT_EQ(told(), 0);
  end_turn();
  EXPECT_EQ(told(), 256);
  say(ids[kMany - 1], "CLIENT GETNAME\r\n");
  EXPECT_EQ(told(), 513) << "what follows a push goes out with it";
  EXPECT_THAT(wires[kMany - 1].output, StartsWith(">2\r\n$10\r\ninvalidate\r\n"));
  EXPECT_THAT(wires[kMany - 1].output, EndsWith("_\r\n"));
  end_turn();
  EXPECT_EQ(told(), kMany);
  clients.reset();  // before the table
}

// A library may store a reply after the push behind it: see RepeatedPushes.
TEST_F(ServedClientsTest, APushIsRepeatedWithinTheShortestBoundOfAnyRule) {
  options.client_tracking = policy::ClientTracking::kPays;
  options.heartbeat_interval = Millis(20);
  begin({"match=prices:*,max-staleness=80ms"});
  NearTable table(shared->kept_names, shared->clients_told_at_once);
  session_parts->near_table = &table;
  const std::uint64_t id = connect_near();
  upstreams->down = "upstream a is down";
  say(id, "GET a\r\n");
  const std::string& output = wires[0].output;
  EXPECT_THAT(output, EndsWith("invalidate\r\n*1\r\n$1\r\na\r\n"));
  const std::size_t once = output.size();
  pass(Millis(10));
  end_turn();
  EXPECT_EQ(output.size(), once) << "the client may not have looked at the reply yet";
  pass(Millis(10));
  pass(Millis(10));
  end_turn();
  EXPECT_GT(output.size(), once);
  EXPECT_THAT(output, EndsWith("invalidate\r\n*1\r\n$1\r\na\r\n"));
  clients.reset();  // before the table
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
