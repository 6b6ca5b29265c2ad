// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::simulation {
namespace {

constexpr std::uint16_t kPort = 7000;

// One process with one connection: keeps what it hears.
class Party final : public net::FdHandler {
 public:
  Party(Network& network, std::string name) : node(network, std::move(name)), loop(node.poller()) {
    node.run(loop);
  }
  ~Party() {
    if (stream) loop.remove(stream.fd());
    stream.close();
    node.leave();
  }

  void take(net::Stream its) {
    stream = std::move(its);
    ASSERT_TRUE(loop.add(stream.fd(), net::Interest::kReadWrite, *this).ok());
  }
  void connect() { take(loop.connect(address_of(kPort), {}).value()); }
  void on_readable() override {
    std::array<char, 100> bytes;
    const net::IoResult got = stream.read(bytes.data(), bytes.size());
    if (got.status == net::IoStatus::kClosed) {
      ended = true;
      loop.change(stream.fd(), net::Interest::kNone);
    } else {
      heard.append(bytes.data(), got.bytes);
    }
  }
  void on_writable() override {
    const Result<net::Interest> opened = stream.open();
    refused = !opened.ok();
    if (!opened.ok() || *opened != net::Interest::kNone) return;
    while (!says.empty()) {
      const net::IoResult wrote = stream.write(says.data(), says.size());
      if (wrote.status != net::IoStatus::kOk) return;
      says.erase(0, wrote.bytes);
    }
    loop.change(stream.fd(), net::Interest::kRead);
  }

  Node node;
  net::EventLoop loop;
  net::Stream stream;
  std::string heard, says;
  bool ended = false, refused = false;
};

class NetworkTest : public testing::Test {
 protected:
  void meet() {
    network_.listen(kPort, server_.node, [this](net::Stream stream, const std::string&) {
      server_.take(std::move(stream));
    });
    client_.connect();
  }
  void pass(Nanos time) { scheduler_.run_until(scheduler_.now() + time); }

  Scheduler scheduler_{3};
  Network network_{scheduler_, {}};
  Party server_{network_, "server"}, client_{network_, "client"};
};

TEST_F(NetworkTest, BytesComeInOrderAndWhole) {
  for (int i = 0; i < 1000; ++i) client_.says += std::to_string(i) + ' ';
  const std::string all = client_.says;
  server_.says = "hello";
  meet();
  pass(std::chrono::seconds(1));
  EXPECT_EQ(server_.heard, all);
  EXPECT_EQ(client_.heard, "hello");
}

TEST_F(NetworkTest, NobodyListens) {
  client_.connect();
  pass(Millis(100));
  EXPECT_TRUE(client_.refused);
}

TEST_F(NetworkTest, AStoppedProcessHearsLater) {
  meet();
  pass(Millis(100));
  server_.node.stop_for(Millis(500));
  client_.says = "x";
  client_.loop.change(client_.stream.fd(), net::Interest::kReadWrite);
  pass(Millis(400));
  EXPECT_EQ(server_.heard, "");
  pass(Millis(200));
  EXPECT_EQ(server_.heard, "x");
}

TEST_F(NetworkTest, AWindowIsFullUntilTheOtherSideReads) {
  meet();
  pass(Millis(100));
  server_.node.stop_for(std::chrono::seconds(1));
  client_.says.assign(2 * network_.options().window_bytes, 'x');
  client_.loop.change(client_.stream.fd(), net::Interest::kReadWrite);
  pass(Millis(500));
  EXPECT_EQ(client_.says.size(), network_.options().window_bytes);
  pass(std::chrono::seconds(2));
  EXPECT_TRUE(client_.says.empty());
  EXPECT_EQ(server_.heard.size(), 2 * network_.options().window_bytes);
}

TEST_F(NetworkTest, AnEndComesBehindTheBytes) {
  meet();
  pass(Millis(100));
  client_.stream.write("bye", 3);
  client_.loop.remove(client_.stream.fd());
  client_.stream.close();
  pass(Millis(100));
  EXPECT_EQ(server_.heard, "bye");
  EXPECT_TRUE(server_.ended);
}

TEST_F(NetworkTest, ACutIsHeardAtBothEnds) {
  meet();
  pass(Millis(100));
  network_.cut();
  pass(Millis(100));
  EXPECT_TRUE(server_.ended);
  EXPECT_TRUE(client_.ended);
}

TEST_F(NetworkTest, ADeafNodeHearsEverythingAfterwards) {
  meet();
  pass(Millis(100));
  server_.node.hear_nothing();
  client_.stream.write("one ", 4);
  client_.stream.write("two", 3);
  pass(Millis(100));
  EXPECT_EQ(server_.heard, "");
  server_.node.hear_again();
  pass(Millis(100));
  EXPECT_EQ(server_.heard, "one two");
}

TEST_F(NetworkTest, WhatIsHeldWhenAConnectionIsCutIsLost) {
  meet();
  pass(Millis(100));
  server_.node.hear_nothing();
  client_.stream.write("lost", 4);
  pass(Millis(100));
  network_.cut([&](const Socket& socket) { return socket.node == &server_.node; });
  server_.node.hear_again();
  pass(Millis(100));
  EXPECT_EQ(server_.heard, "");
  EXPECT_TRUE(server_.ended);
}

TEST_F(NetworkTest, ATornRequestArrivesInTwoParts) {
  meet();
  pass(Millis(100));
  client_.node.tear_before("PTTL", Millis(200));
  client_.stream.write("GETRANGE PTTL", 13);
  pass(Millis(100));
  EXPECT_EQ(server_.heard, "GETRANGE ");
  pass(Millis(200));
  EXPECT_EQ(server_.heard, "GETRANGE PTTL");
}

TEST_F(NetworkTest, ANodeMayHearLate) {
  meet();
  pass(Millis(100));
  server_.node.hear_later_by(Millis(200));
  client_.stream.write("late", 4);
  pass(Millis(150));
  EXPECT_EQ(server_.heard, "");
  pass(Millis(150));
  EXPECT_EQ(server_.heard, "late");
}

TEST_F(NetworkTest, TimersAndPostedWorkRunInVirtualTime) {
  std::string ran;
  client_.loop.call_after(std::chrono::hours(1), [&] { ran += 't'; });
  client_.loop.post([&] { ran += 'p'; });
  pass(std::chrono::minutes(59));
  EXPECT_EQ(ran, "p");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(ran, "pt");
}

}  // namespace
}  // namespace heatsink::simulation
