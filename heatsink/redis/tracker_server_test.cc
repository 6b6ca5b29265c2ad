// SPDX-License-Identifier: Apache-2.0
// The tracker against a real server: checks the server behaviour that the tracker relies on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/redis/tracker.h"
#include "heatsink/redis/tracker_log_for_test.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::redis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int kPatienceMs = 20'000;  // a loaded machine is slow; the wait ends as soon as it can

class TrackerServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.running()) GTEST_SKIP() << "redis-server is not installed or does not start";
    socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    server_.socket_path().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    tracker_.connected(BootClock::now());
    flush_output();
    hear_until("heartbeat");
    ASSERT_TRUE(tracker_.up());
    log_.take();
  }

  ~TrackerServerTest() override {
    if (socket_ >= 0) close(socket_);
  }

  // A command on another connection. It has been executed when this returns.
  std::string foreign(std::initializer_list<std::string_view> args) {
    ByteBuffer out;
    resp::append_request(out, args);
    return server_.ask(out.view());
  }

  void send_bytes(std::string_view bytes) {
    ASSERT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void flush_output() {
    send_bytes(tracker_.output().view());
    tracker_.output().clear();
  }

  // Feeds the tracker until an event begins with `line`.
  void hear_until(std::string_view line) {
    const auto told = [&] {
      return std::any_of(log_.lines().begin(), log_.lines().end(),
                         [&](const std::string& each) { return each.starts_with(line); });
    };
    while (!told()) ASSERT_NO_FATAL_FAILURE(hear());
  }
  void hear() {
    pollfd readable{socket_, POLLIN, 0};
    ASSERT_EQ(poll(&readable, 1, kPatienceMs), 1) << "the server says nothing";
    char piece[16384];
    const ssize_t n = read(socket_, piece, sizeof piece);
    ASSERT_GT(n, 0);
    const Status status = tracker_.received({piece, static_cast<std::size_t>(n)}, BootClock::now());
    ASSERT_TRUE(status.ok()) << status.error().message;
  }

  // The event of one fill, without its times.
  std::string filled(std::string_view key, std::uint32_t db = 0) {
    tracker_.fill(1, {key, db}, BootClock::now());
    flush_output();
    return answer();
  }
  std::string answer() {
    hear_until("filled");
    std::string line = log_.lines().back();
    log_.take();
    return line;
  }
  // All events that the server has caused before this call.
  std::vector<std::string> heard_by_barrier() {
    tracker_.barrier(1, BootClock::now());
    flush_output();
    hear_until("barrier");
    return log_.take();
  }

  resp::testing::RedisProcess server_;
  TrackerLog log_;
  Tracker tracker_{[] {
                     TrackerOptions options;
                     options.max_staleness = std::chrono::seconds(60);  // for a loaded machine
                     options.value_bytes_max = 100;
                     return options;
                   }(),
                   log_};
  int socket_ = -1;
};

TEST_F(TrackerServerTest, AForeignWriteAfterAFillIsPushed) {
  foreign({"SET", "k", "v1"});
  EXPECT_THAT(filled("k"), HasSubstr("value"));
  foreign({"SET", "k", "v2"});
  hear_until("invalidate k");  // the server pushes without a request
  log_.take();
  EXPECT_THAT(filled("k"), HasSubstr("\"v2\""));
}

TEST_F(TrackerServerTest, ABarrierComesBehindThePushesOfEarlierWrites) {
  filled("a");
  filled("b");
  foreign({"MSET", "a", "1", "b", "2"});
  const std::vector<std::string> heard = heard_by_barrier();
  EXPECT_THAT(heard, Contains("invalidate a"));
  EXPECT_THAT(heard, Contains("invalidate b"));
  EXPECT_EQ(heard.back(), "barrier 1");
}

TEST_F(TrackerServerTest, WhatAFillCanFind) {
  foreign({"SET", "empty", ""});
  foreign({"SET", "timed", "v", "PX", "1000000"});
  foreign({"SET", "limit", std::string(100, 'x')});
  foreign({"SET", "large", std::string(101, 'x')});
  foreign({"SET", "eternal", "v", "PX", "9000000000000000"});
  foreign({"RPUSH", "list", "x"});
  EXPECT_THAT(filled("missing"), HasSubstr("nil"));
  EXPECT_THAT(filled("empty"), HasSubstr("value"));
  EXPECT_THAT(filled("timed"), HasSubstr(" ttl "));
  EXPECT_THAT(filled("limit"), HasSubstr("value"));
  EXPECT_THAT(filled("large"), HasSubstr("too big"));
  EXPECT_THAT(filled("eternal"), HasSubstr(" ttl 31536000000 "));
  EXPECT_THAT(filled("list"), HasSubstr("refused"));
}

TEST_F(TrackerServerTest, AMissingKeyIsTrackedToo) {
  EXPECT_THAT(filled("k"), HasSubstr("nil"));
  foreign({"SET", "k", "v"});
  EXPECT_THAT(heard_by_barrier(), Contains("invalidate k"));
}

TEST_F(TrackerServerTest, AWriteInAnyDatabaseIsPushedForAll) {
  server_.ask("SELECT 1\r\nSET k one\r\n");
  foreign({"SET", "k", "zero"});
  EXPECT_THAT(filled("k", 1), HasSubstr("\"one\""));
  EXPECT_THAT(filled("k", 0), HasSubstr("\"zero\""));
  server_.ask("SELECT 2\r\nSET k two\r\n");
  EXPECT_THAT(heard_by_barrier(), Contains("invalidate k"));
}

TEST_F(TrackerServerTest, TrackingEndsWithThePush) {
  filled("k");
  foreign({"SET", "k", "1"});
  heard_by_barrier();
  foreign({"SET", "k", "2"});
  EXPECT_THAT(heard_by_barrier(), Not(Contains("invalidate k")));
}

TEST_F(TrackerServerTest, FlushAllAndFlushDbOfAnyDatabaseAreFlushes) {
  filled("k");
  foreign({"FLUSHALL"});
  EXPECT_THAT(heard_by_barrier(), Contains("flush"));
  server_.ask("SELECT 5\r\nSET x y\r\nFLUSHDB\r\n");
  EXPECT_THAT(heard_by_barrier(), Contains("flush"));
}

// Asks the server for its count of SWAPDB behind code that may have run it.
TEST_F(TrackerServerTest, AnExchangeOfDatabasesByCodeIsAFlush) {
  const auto heard_behind_code = [&] {
    tracker_.barrier(1, BootClock::now(), true);
    flush_output();
    hear_until("barrier");
    return log_.take();
  };
  heard_behind_code();  // the count begins
  EXPECT_THAT(heard_behind_code(), Not(Contains("flush")));
  const TimePoint before = log_.exchanges_known_at;
  EXPECT_LT(before, BootClock::now());
  foreign({"EVAL", "return redis.call('swapdb', 0, 1)", "0"});
  EXPECT_THAT(heard_behind_code(), Contains("flush"));
  EXPECT_THAT(heard_behind_code(), Not(Contains("flush")));
  EXPECT_GT(log_.exchanges_known_at, before);
  foreign({"CONFIG", "RESETSTAT"});
  EXPECT_THAT(heard_behind_code(), Contains("flush"));
  foreign({"ACL", "SETUSER", "default", "-info"});
  EXPECT_THAT(heard_behind_code(), Contains("flush"));
  EXPECT_EQ(log_.exchanges_known_at, TimePoint::max()) << "the server does not tell";
  foreign({"ACL", "SETUSER", "default", "+info"});
}

// The two reads of a fill, with another client's command in between.
class BetweenTheReads : public TrackerServerTest {
 protected:
  void read_value(std::string_view key) {
    tracker_.fill(1, {key, 0}, BootClock::now());
    const std::string out(tracker_.output().view());
    tracker_.output().clear();
    const std::size_t second = out.rfind("*2");
    ASSERT_NE(out.find("PTTL", second), std::string::npos);
    send_bytes(out.substr(0, second));
    rest_ = out.substr(second);
    hear();  // the reply to the first
  }
  std::string read_ttl() {
    send_bytes(rest_);
    return answer();
  }

 private:
  std::string rest_;
};

TEST_F(BetweenTheReads, AWriteSpoilsTheFill) {
  foreign({"SET", "k", "v1"});
  read_value("k");
  foreign({"SET", "k", "v2"});
  const std::string line = read_ttl();
  EXPECT_THAT(line, HasSubstr("spoiled \"v1\""));
  foreign({"SET", "k", "v3"});  // PTTL has tracked the key again
  EXPECT_THAT(heard_by_barrier(), Contains("invalidate k"));
}

TEST_F(BetweenTheReads, ACreationCannotBeTakenForAnEmptyValue) {
  read_value("k");
  foreign({"SET", "k", "v"});
  EXPECT_THAT(read_ttl(), HasSubstr("failed"));
}

TEST_F(BetweenTheReads, ADeletionIsNotKept) {
  foreign({"SET", "k", "v"});
  read_value("k");
  foreign({"DEL", "k"});
  EXPECT_THAT(read_ttl(), HasSubstr("spoiled \"v\""));
}

TEST_F(BetweenTheReads, AnExpiryIsNotKept) {
  foreign({"SET", "k", "", "PX", "50"});
  read_value("k");
  while (foreign({"EXISTS", "k"}) != ":0\r\n") {
  }
  EXPECT_THAT(read_ttl(), HasSubstr("nil"));
}

}  // namespace
}  // namespace heatsink::redis
