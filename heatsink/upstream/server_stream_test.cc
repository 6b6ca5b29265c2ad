// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/server_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::proxy {
namespace {

using net::Interest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kStreamFd = 7;

// What a test plays: the time, and the server.
struct PlayedServer {
  TimePoint now{std::chrono::hours(1)};
  int attempts = 0;
  int attempts_refused = 0;         // so many fail at once
  bool has_room = true;             // the loop can watch one more
  Interest step = Interest::kNone;  // of open()
  std::string fault;                // of open(); "": none
  Interest watched = Interest::kNone;
  bool is_watched = false;
  std::string written;
};

class PlayedChannel final : public net::Channel {
 public:
  explicit PlayedChannel(PlayedServer& server) : server_(server) {}
  Result<Interest> open() override {
    if (!server_.fault.empty()) return Error{ErrorCode::kUnavailable, server_.fault};
    is_open_ = server_.step == Interest::kNone;
    return server_.step;
  }
  bool is_open() const override { return is_open_; }
  net::IoResult read(char* /*bytes*/, std::size_t /*size*/) noexcept override {
    return {net::IoStatus::kAgain};
  }
  net::IoResult write(const char* bytes, std::size_t size) noexcept override {
    server_.written.append(bytes, size);
    return {net::IoStatus::kOk, size};
  }
  bool peer_has_ended() const noexcept override { return false; }
  void close() override {}

 private:
  PlayedServer& server_;
  bool is_open_ = false;
};

class ServerPoller final : public net::Poller {
 public:
  explicit ServerPoller(PlayedServer& server) : server_(server) {}
  TimePoint clock() const override { return server_.now; }
  Status add(int /*fd*/, Interest interest, std::uint64_t /*tag*/) override {
    if (!server_.has_room) return Error{ErrorCode::kOutOfRange, "too many watches"};
    server_.is_watched = true;
    server_.watched = interest;
    return Unit{};
  }
  void change(int /*fd*/, Interest interest, std::uint64_t /*tag*/) override {
    server_.watched = interest;
  }
  void remove(int /*fd*/) override { server_.is_watched = false; }
  std::span<const Event> wait(TimePoint /*due*/, Nanos /*at_most*/, bool /*sleeps*/) override {
    return {};
  }
  void wake() override {}
  Result<net::Stream> connect(const net::ResolvedAddress& /*address*/,
                              const net::TlsContext& /*context*/) override {
    if (++server_.attempts <= server_.attempts_refused)
      return Error{ErrorCode::kUnavailable, "refused " + std::to_string(server_.attempts)};
    return net::Stream(std::make_unique<PlayedChannel>(server_), kStreamFd);
  }

 private:
  PlayedServer& server_;
};

class ServerStreamTest : public testing::Test, public ServerStream::Owner, public net::FdHandler {
 protected:
  ServerStreamTest() { address_.set_addresses({{}, {}}); }
  ~ServerStreamTest() override = default;

  static net::RedisUrl url() { return net::parse_redis_url("redis://127.0.0.1:1").value(); }
  void turn(Nanos later = Nanos(0)) {
    server_.now += later;
    loop_.turn(Nanos(0));
  }
  const policy::ProxyOptions& options() const { return shared_.options(); }
  std::vector<std::string> failures() { return std::exchange(failures_, {}); }

  void fail(const std::string& reason) override {
    failures_.push_back(reason);
    stream_.close();
  }
  void on_readable() override {}
  void on_writable() override {}

  PlayedServer server_;
  net::EventLoop loop_{std::make_unique<ServerPoller>(server_)};
  ServersState shared_{policy::ProxyOptions(), url(), 1};
  redis::UpstreamAddress address_{url()};
  ServerStream stream_{loop_, shared_, address_, *this, *this};

 private:
  std::vector<std::string> failures_;
};

TEST_F(ServerStreamTest, OpensStepByStep) {
  stream_.connect();
  EXPECT_EQ(server_.watched, Interest::kReadWrite);
  server_.step = Interest::kRead;
  EXPECT_FALSE(stream_.open_further());
  EXPECT_EQ(server_.watched, Interest::kRead);
  server_.step = Interest::kNone;
  EXPECT_TRUE(stream_.open_further());
  EXPECT_EQ(stream_.write("PING").bytes, 4U);
  EXPECT_EQ(server_.written, "PING");
  EXPECT_THAT(failures(), IsEmpty());
}

TEST_F(ServerStreamTest, TriesTheNextAddress) {
  server_.attempts_refused = 1;
  stream_.connect();
  turn();
  EXPECT_EQ(server_.attempts, 2);
  EXPECT_TRUE(server_.is_watched);
  EXPECT_THAT(failures(), IsEmpty());
}

TEST_F(ServerStreamTest, FailsInALaterTurnWithTheLastReason) {
  server_.attempts_refused = 2;
  stream_.connect();
  EXPECT_THAT(failures(), IsEmpty()) << "not in connect()";
  turn();
  EXPECT_THAT(failures(), ElementsAre("refused 2"));
  address_.set_addresses({});
  stream_.connect();
  turn();
  EXPECT_THAT(failures(), ElementsAre("its host name has no address"));
}

TEST_F(ServerStreamTest, FailsIfTheLoopHasNoRoom) {
  server_.has_room = false;
  stream_.connect();
  turn();
  EXPECT_THAT(failures(), ElementsAre("too many watches"));
}

TEST_F(ServerStreamTest, ConnectingHasALimit) {
  stream_.connect();
  turn(options().connect_timeout - Nanos(1));
  EXPECT_THAT(failures(), IsEmpty());
  turn(Nanos(1));
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("timed out")));
  EXPECT_FALSE(server_.is_watched);
}

TEST_F(ServerStreamTest, TheLoginHasTheLimitOfAnyCommand) {
  stream_.connect();
  ASSERT_TRUE(stream_.open_further());
  turn(options().response_timeout - Nanos(1));
  EXPECT_THAT(failures(), IsEmpty());
  turn(Nanos(1));
  EXPECT_THAT(failures(),
              ElementsAre("the server accepted the connection but did not answer for 10s"));
}

TEST_F(ServerStreamTest, AfterTheLoginThereIsNoLimit) {
  stream_.connect();
  ASSERT_TRUE(stream_.open_further());
  stream_.end_deadline();
  turn(2 * options().response_timeout);
  EXPECT_THAT(failures(), IsEmpty());
}

TEST_F(ServerStreamTest, AStepThatFailsIsReportedAtOnce) {
  stream_.connect();
  server_.fault = "its certificate has another name";
  EXPECT_FALSE(stream_.open_further());
  EXPECT_THAT(failures(), ElementsAre("its certificate has another name"));
}

TEST_F(ServerStreamTest, WaitsForAServerThatMayBeUsed) {
  address_.withhold("no master is known");
  stream_.connect();
  EXPECT_TRUE(stream_.is_withheld());
  EXPECT_EQ(server_.attempts, 0);
  turn(options().connect_wait - Nanos(1));
  EXPECT_THAT(failures(), IsEmpty());
  turn(Nanos(1));
  EXPECT_THAT(failures(), ElementsAre("no master is known"));
}

TEST_F(ServerStreamTest, ConnectsOnceThereIsAServer) {
  address_.withhold("no master is known");
  stream_.connect();
  address_.move_to({"10.0.0.2", 6379}, {{}});
  stream_.connect();
  EXPECT_FALSE(stream_.is_withheld());
  EXPECT_EQ(server_.attempts, 1);
  ASSERT_TRUE(stream_.open_further());
  stream_.end_deadline();
  turn(2 * options().connect_wait);
  EXPECT_THAT(failures(), IsEmpty()) << "the wait is over";
}

TEST_F(ServerStreamTest, KnowsThatTheServerHasMoved) {
  stream_.connect();
  EXPECT_FALSE(stream_.is_outdated());
  address_.move_to({"10.0.0.2", 6379}, {{}});
  EXPECT_TRUE(stream_.is_outdated());
  EXPECT_EQ(stream_.where(), "127.0.0.1:1") << "where it leads";
}

TEST_F(ServerStreamTest, APausedStreamIsOnlyWritten) {
  stream_.want_write(true);
  EXPECT_FALSE(server_.is_watched) << "there is no stream";
  stream_.connect();
  ASSERT_TRUE(stream_.open_further());
  stream_.want_write(false);
  EXPECT_EQ(server_.watched, Interest::kRead);
  stream_.pause(true);
  EXPECT_EQ(server_.watched, Interest::kNone);
  stream_.want_write(true);
  EXPECT_EQ(server_.watched, Interest::kWrite);
  stream_.pause(false);
  EXPECT_EQ(server_.watched, Interest::kReadWrite);
}

TEST_F(ServerStreamTest, AStreamMovesBetweenProcesses) {
  stream_.connect();
  ASSERT_TRUE(stream_.open_further());
  stream_.end_deadline();
  net::Stream moved = stream_.release();
  EXPECT_FALSE(server_.is_watched);
  EXPECT_LT(stream_.fd(), 0);
  ASSERT_TRUE(stream_.take_over(std::move(moved)).ok());
  EXPECT_EQ(server_.watched, Interest::kRead);
  EXPECT_EQ(stream_.fd(), kStreamFd);
  stream_.close();
  server_.has_room = false;
  EXPECT_FALSE(
      stream_.take_over(net::Stream(std::make_unique<PlayedChannel>(server_), kStreamFd)).ok());
  EXPECT_LT(stream_.fd(), 0);
}

}  // namespace
}  // namespace heatsink::proxy
