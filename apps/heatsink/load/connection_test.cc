// SPDX-License-Identifier: Apache-2.0
// A connection of the load against a server that the test controls; one loop, loopback.
#include "apps/heatsink/load/connection.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace heatsink::app {
namespace {

// Accepts one connection at a time, keeps the received bytes, and sends the test's bytes.
class ScriptedServer final : public net::FdHandler {
 public:
  explicit ScriptedServer(net::EventLoop& loop) : loop_(loop) {
    listener_ = net::listen_tcp({"127.0.0.1", 0}).value();
    EXPECT_TRUE(loop_.add(listener_.get(), net::Interest::kRead, *this).ok());
  }
  ~ScriptedServer() { loop_.remove(listener_.get()); }
  std::uint16_t port() const { return net::local_port(listener_); }
  void on_readable() override {
    bool again = false;
    auto accepted = net::accept_tcp(listener_, again);
    if (!accepted) return;
    client_ = std::move(accepted->socket);
    ++accepted_;
    heard_.clear();
  }
  void on_writable() override {}

  const std::string& heard() {
    char bytes[4096];
    if (!client_) return heard_;
    const net::IoResult result = net::read_some(client_.get(), bytes, sizeof bytes);
    if (result.status == net::IoStatus::kOk) heard_.append(bytes, result.bytes);
    return heard_;
  }
  void say(std::string_view bytes) {
    ASSERT_EQ(net::write_some(client_.get(), bytes.data(), bytes.size()).bytes, bytes.size());
  }
  void hang_up() { client_.close(); }
  int accepted() const { return accepted_; }

 private:
  net::EventLoop& loop_;
  net::Fd listener_, client_;
  std::string heard_;
  int accepted_ = 0;
};

// Reads of rank 0, as many as the test allows.
class Reads final : public OperationSource {
 public:
  std::optional<Operation> next(TimePoint now) override {
    if (left == 0) return std::nullopt;
    --left;
    return Operation{0, false, now};
  }
  void answered() override { ++answers; }
  void lost(const Operation&) override { ++losses; }
  int left = 0, answers = 0, losses = 0;
};

constexpr std::string_view kGet = "*2\r\n$3\r\nGET\r\n$18\r\nproduct:1000:price\r\n";

std::string times(std::string_view text, int count) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

class LoadConnectionTest : public testing::Test {
 protected:
  void start(std::size_t pipeline, const std::string& credentials = "",
             const std::string& db = "") {
    target_.url = net::parse_redis_url("redis://" + credentials +
                                       "127.0.0.1:" + std::to_string(server_.port()) + db)
                      .value();
    target_.addresses = net::resolve(target_.url.address).value();
    shape_.pipeline = pipeline;
    connection_.emplace(loop_, target_, tally_, shape_);
    connection_->use(reads_);
    connection_->connect();
  }
  // Turns the loop until it is so; gives up after about 5 s.
  bool becomes(const std::function<bool()>& so) {
    for (int i = 0; i < 500 && !so(); ++i) loop_.turn(Millis(10));
    return so();
  }
  bool hears(const std::string& text) {
    return becomes([&] { return server_.heard().size() >= text.size(); }) &&
           server_.heard() == text;
  }

  net::EventLoop loop_;
  ScriptedServer server_{loop_};
  LoadTarget target_;
  LoadShape shape_;
  Tally tally_;
  Reads reads_;
  std::optional<LoadConnection> connection_;
};

TEST_F(LoadConnectionTest, KeepsThePipelineFullAndNoFuller) {
  reads_.left = 5;
  start(3);
  ASSERT_TRUE(hears(times(kGet, 3)));
  server_.say("$1\r\nx\r\n$-1\r\n");
  ASSERT_TRUE(hears(times(kGet, 5)));
  EXPECT_EQ(tally_.reads, 2u);
  EXPECT_EQ(tally_.nils, 1u);
  EXPECT_EQ(tally_.latency.count(), 2u);
  EXPECT_EQ(reads_.answers, 2);
}

TEST_F(LoadConnectionTest, APrefixIsBeforeEachName) {
  reads_.left = 1;
  shape_.prefix = "sale:";
  start(1);
  EXPECT_TRUE(hears("*2\r\n$3\r\nGET\r\n$23\r\nsale:product:1000:price\r\n"));
}

TEST_F(LoadConnectionTest, AClosedLoopSendsTheNextBatchWhenNoReplyIsMissing) {
  reads_.left = 5;
  shape_.closed = true;
  start(2);
  ASSERT_TRUE(hears(times(kGet, 2)));
  server_.say("$1\r\nx\r\n");
  ASSERT_TRUE(becomes([&] { return reads_.answers == 1; }));
  connection_->pump(BootClock::now());
  EXPECT_EQ(reads_.left, 3);
  server_.say("$1\r\nx\r\n");
  EXPECT_TRUE(hears(times(kGet, 4)));
  EXPECT_EQ(reads_.left, 1);
}

TEST_F(LoadConnectionTest, TheNamesOfAListReplaceTheMadeOnes) {
  reads_.left = 1;
  shape_.prefix = "sale:";
  shape_.names = std::make_shared<const KeyList>("mine\nyours");
  start(1);
  EXPECT_TRUE(hears("*2\r\n$3\r\nGET\r\n$9\r\nsale:mine\r\n"));
}

TEST_F(LoadConnectionTest, LogsInAndSelectsBeforeTheFirstOperation) {
  reads_.left = 1;
  start(1, "app:pass@", "/7");
  const std::string greeting =
      "*3\r\n$4\r\nAUTH\r\n$3\r\napp\r\n$4\r\npass\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n7\r\n";
  ASSERT_TRUE(hears(greeting));
  server_.say("+OK\r\n+OK\r\n");
  EXPECT_TRUE(hears(greeting + std::string(kGet)));
  EXPECT_EQ(tally_.operations(), 0u);
}

TEST_F(LoadConnectionTest, ErrorsAreCountedByTextAlsoWhenTheyComeInPieces) {
  reads_.left = 2;
  start(2);
  ASSERT_TRUE(hears(times(kGet, 2)));
  server_.say("-LOADING Redis is ");
  loop_.turn(Millis(50));
  server_.say("busy\r\n-ERR " + std::string(5000, 'x') + "\r\n");
  ASSERT_TRUE(becomes([&] { return reads_.answers == 2; }));
  EXPECT_EQ(tally_.errors.at("LOADING Redis is busy"), 1u);
  EXPECT_EQ(tally_.error_count(), 2u);
  EXPECT_LE(tally_.errors.begin()->first.size(), 2 * LoadConnection::kErrorBytesMax);
  EXPECT_EQ(tally_.operations(), 0u);
}

TEST_F(LoadConnectionTest, ComesBackAfterAHangUpAndTellsWhatWasLost) {
  reads_.left = 3;
  start(2);
  ASSERT_TRUE(hears(times(kGet, 2)));
  server_.hang_up();
  ASSERT_TRUE(becomes([&] { return server_.accepted() == 2; }));
  EXPECT_EQ(reads_.losses, 2);
  EXPECT_EQ(tally_.error_count(), 1u);
  EXPECT_TRUE(hears(std::string(kGet)));
}

TEST_F(LoadConnectionTest, WhatIsNotRespEndsTheConnection) {
  reads_.left = 1;
  start(1);
  ASSERT_TRUE(hears(std::string(kGet)));
  server_.say("HTTP/1.1 400 Bad Request\r\n");
  ASSERT_TRUE(becomes([&] {
    return tally_.errors.contains(
        "the server does not speak RESP: is this the port of a Redis or Valkey server?");
  }));
  EXPECT_EQ(reads_.losses, 1);
}

TEST_F(LoadConnectionTest, AReplyThatNobodyAskedForEndsTheConnection) {
  start(1);
  ASSERT_TRUE(becomes([&] { return server_.accepted() == 1; }));
  server_.say("+OK\r\n");
  EXPECT_TRUE(becomes([&] { return tally_.error_count() == 1; }));
}

TEST_F(LoadConnectionTest, AnOverdueReplyEndsTheConnection) {
  const TimePoint before = BootClock::now();
  reads_.left = 1;
  start(1);
  ASSERT_TRUE(hears(std::string(kGet)));
  connection_->check_timeout(before + LoadConnection::kReplyTimeout - Nanos(1));
  EXPECT_EQ(tally_.error_count(), 0u);
  connection_->check_timeout(BootClock::now() + LoadConnection::kReplyTimeout);
  EXPECT_EQ(tally_.errors.at("no reply within 5s"), 1u);
  EXPECT_EQ(reads_.losses, 1);
}

}  // namespace
}  // namespace heatsink::app
