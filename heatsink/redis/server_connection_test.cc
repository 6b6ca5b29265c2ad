// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/server_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"

namespace heatsink::redis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Sends "hello" and records its calls.
class Script final : public ConnectionProtocol {
 public:
  void connected(TimePoint) override {
    ++connections;
    output_.append("hello");
  }
  Status received(std::string_view bytes, TimePoint) override {
    heard += bytes;
    if (heard.find("bad") != std::string::npos) return Error{ErrorCode::kProtocol, "that was bad"};
    return Unit{};
  }
  Status tick(TimePoint) override { return ticked; }
  void disconnected(const std::string& reason) override { losses.push_back(reason); }
  bool up() const override { return heard == "welcome"; }
  ByteBuffer& output() override { return output_; }

  int connections = 0;
  std::string heard;
  std::vector<std::string> losses;
  Status ticked = Unit{};

 private:
  ByteBuffer output_;
};

// The server, in the same loop. It accepts one connection after another.
class Server final : public net::FdHandler {
 public:
  explicit Server(net::EventLoop& loop) : loop_(loop) { listen({"127.0.0.1", 0}); }
  ~Server() { stop(); }
  Server(const Server&) = delete;

  void listen(const net::HostPort& address) {
    listener_ = std::move(net::listen_tcp(address)).value();
    EXPECT_TRUE(loop_.add(listener_.get(), net::Interest::kRead, *this).ok());
  }
  void stop() {
    client_.close();
    if (!listener_) return;
    loop_.remove(listener_.get());
    listener_.close();
  }
  std::uint16_t port() const { return net::local_port(listener_); }

  void on_readable() override {
    bool again = false;
    Result<net::Accepted> accepted = net::accept_tcp(listener_, again);
    if (accepted.ok()) client_ = std::move(accepted->socket);
  }
  void on_writable() override {}

  // All bytes that have arrived so far.
  const std::string& heard() {
    std::array<char, 100> bytes{};
    const net::IoResult got = net::read_some(client_.get(), bytes.data(), bytes.size());
    heard_.append(bytes.data(), got.bytes);
    return heard_;
  }
  void write(std::string_view bytes) { net::write_some(client_.get(), bytes.data(), bytes.size()); }
  void hang_up() { client_.close(); }
  bool is_connected() const { return static_cast<bool>(client_); }

 private:
  net::EventLoop& loop_;
  net::Fd listener_;
  net::Fd client_;
  std::string heard_;
};

class ServerConnectionTest : public testing::Test {
 protected:
  static net::RedisUrl url(std::uint16_t port) {
    return {.address = {"127.0.0.1", port}, .user = {}, .password = {}, .db = 0};
  }

  template <class Condition>
  void turn_until(Condition condition) {
    const TimePoint end = BootClock::now() + std::chrono::minutes(1);
    while (!condition() && BootClock::now() < end) loop_.turn(Millis(10));
    ASSERT_TRUE(condition());
  }
  void meet() {
    connection_.connect();
    turn_until([&] { return script_.connections == 1 && server_.heard() == "hello"; });
  }

  net::EventLoop loop_;
  Server server_{loop_};
  UpstreamAddress address_{url(server_.port())};
  Script script_;
  ServerConnection connection_{
      loop_, address_, script_, {.backoff_min = Millis(1), .backoff_max = Millis(4)}, "nothing"};
};

TEST_F(ServerConnectionTest, CarriesWhatIsSaid) {
  EXPECT_EQ(connection_.problem(), "not connected yet");
  meet();
  server_.write("welcome");
  turn_until([&] { return connection_.problem().empty(); });
  EXPECT_EQ(script_.heard, "welcome");
}

TEST_F(ServerConnectionTest, ComesBackWhenItIsLost) {
  meet();
  server_.hang_up();
  turn_until([&] { return script_.connections == 2; });
  EXPECT_EQ(script_.losses.size(), 1u);
  EXPECT_THAT(script_.losses.front(), HasSubstr("the connection was lost"));
}

TEST_F(ServerConnectionTest, AttemptsThatFailAreToldUntilOneSucceeds) {
  const std::uint16_t port = server_.port();
  server_.stop();
  connection_.connect();
  turn_until([&] { return script_.losses.size() >= 3; });
  EXPECT_EQ(script_.connections, 0);
  EXPECT_EQ(connection_.problem(), script_.losses.back());
  server_.listen({"127.0.0.1", port});
  turn_until([&] { return script_.connections == 1; });
}

TEST_F(ServerConnectionTest, EndsWhereTheDialogueEnds) {
  meet();
  server_.write("bad");
  turn_until([&] { return !script_.losses.empty(); });
  EXPECT_EQ(script_.losses.front(), "that was bad");
  turn_until([&] { return script_.connections == 2; });
  script_.ticked = Error{ErrorCode::kTimedOut, "too late"};
  connection_.tick();
  EXPECT_EQ(script_.losses.back(), "too late");
}

// With a purpose of its own, because the log drops messages that another test has just caused.
TEST_F(ServerConnectionTest, TheLogSaysThatItWasLostAndThatItWorksAgain) {
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  ServerConnection link(loop_, address_, script_,
                        {.backoff_min = Millis(1), .backoff_max = Millis(4)}, "copies");
  link.connect();
  turn_until([&] { return server_.heard() == "hello"; });
  server_.hang_up();
  turn_until([&] { return script_.connections == 2 && server_.is_connected(); });
  server_.write("welcome");
  turn_until([&] { return link.problem().empty(); });
  set_log_sink({});
  EXPECT_THAT(lines, ElementsAre(testing::StartsWith("no copies: the connection was lost; "),
                                 "copies: working again"));
}

TEST_F(ServerConnectionTest, ANameThatNobodyKnowsIsAProblemLikeAnyOther) {
  UpstreamAddress nowhere(
      {.address = {"no-such-host.invalid", 1}, .user = {}, .password = {}, .db = 0});
  ServerConnection link(loop_, nowhere, script_, {}, "nothing");
  link.connect();
  EXPECT_THAT(link.problem(), HasSubstr("no-such-host.invalid"));
}

}  // namespace
}  // namespace heatsink::redis
