// SPDX-License-Identifier: Apache-2.0
// Two workers as if they were in two processes: one gives its clients to the other, on real sockets
// and threads and with a real server.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/handover/handover.h"
#include "heatsink/proxy/worker.h"
#include "heatsink/relief/shared_state.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kPatience = std::chrono::seconds(20);

// What one process has.
class Side {
 public:
  Side(const std::string& server, std::uint64_t seed) {
    policy::ProxyOptions options;
    options.upstream = "unix://" + server;
    options.workers = 1;
    const net::RedisUrl upstream = net::parse_redis_url(options.upstream).value();
    shared = std::make_unique<SharedState>(options, upstream, seed);
    shared->upstream_address.set_addresses(net::resolve_server(upstream).value());
    keeper = std::make_unique<copies::CopyKeeper>(*shared);
    worker = std::make_unique<Worker>(*shared, *keeper, 0, net::Fd());
    keeper->serve({worker.get()});
    threads_.emplace_back([this] { keeper->run(); });
    threads_.emplace_back([this] { worker->run(); });
  }
  ~Side() {
    worker->stop();
    keeper->stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Side(const Side&) = delete;

  std::uint64_t clients() const { return shared->clients.load(); }

  std::unique_ptr<SharedState> shared;
  std::unique_ptr<copies::CopyKeeper> keeper;
  std::unique_ptr<Worker> worker;

 private:
  std::vector<std::thread> threads_;
};

template <class Condition>
bool until(Condition condition) {
  const TimePoint end = BootClock::now() + kPatience;
  while (!condition()) {
    if (BootClock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

bool says(const net::Fd& fd, std::string_view requests, std::string_view replies) {
  if (!requests.empty() && send(fd.get(), requests.data(), requests.size(), MSG_NOSIGNAL) < 0)
    return false;
  std::string heard(replies.size(), '\0');
  std::size_t size = 0;
  while (size < heard.size()) {
    const ssize_t n = read(fd.get(), heard.data() + size, heard.size() - size);
    if (n <= 0) return false;
    size += static_cast<std::size_t>(n);
  }
  return heard == replies;
}

class HandoverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!server_.running()) GTEST_SKIP() << "redis-server is not installed or does not start";
    old_ = std::make_unique<Side>(server_.socket_path(), 1);
    new_ = std::make_unique<Side>(server_.socket_path(), 2);
    auto ends = handover::Channel::make_pair();
    here_ = std::move(ends->first);
    there_ = std::move(ends->second);
  }

  // The client's end of a connection to the old side.
  net::Fd connect() { return connect(*old_); }
  net::Fd connect(Side& side) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    EXPECT_EQ(fcntl(ends[0], F_SETFL, 0), 0);  // the client's end may block
    const auto stream = std::make_shared<net::Stream>(net::Fd(ends[1]));
    Worker& worker = *side.worker;
    worker.loop().post([&worker, stream] { worker.serve(std::move(*stream), "unix:"); });
    return net::Fd(ends[0]);
  }

  // Of the next client, whose connections are closed in the new process.
  std::uint64_t given_token() {
    const Result<handover::Channel::Received> got = there_.receive(kPatience);
    return got.ok() && got->message ? std::get<handover::Client>(*got->message).token : 0;
  }

  // Takes `count` clients from the channel to the new side.
  void take(int count) {
    for (int i = 0; i < count; ++i) {
      Result<handover::Channel::Received> got = there_.receive(kPatience);
      ASSERT_TRUE(got.ok() && got->message) << (got.ok() ? "no message" : got.error().message);
      const auto& message = std::get<handover::Client>(*got->message);
      Result<CarriedSession> session = decode_session(message.state);
      ASSERT_TRUE(session.ok()) << session.error().message;
      CarriedClient client;
      client.session = std::move(session).value();
      client.client = net::Stream(std::move(got->descriptors[0]));
      if (message.has_private)
        client.private_connection = net::Stream(std::move(got->descriptors[1]));
      old_->worker->taken(message.token);
      new_->worker->adopt(std::move(client), [](bool) {});
    }
  }

  const resp::testing::RedisProcess server_;
  std::unique_ptr<Side> old_, new_;
  handover::Channel here_, there_;
};

TEST_F(HandoverTest, ClientsGoOnInTheOtherProcessWithTheirState) {
  const net::Fd plain = connect(), queued = connect(), waiting = connect();
  ASSERT_TRUE(says(plain, "SELECT 2\r\nSET k v\r\n", "+OK\r\n+OK\r\n"));
  ASSERT_TRUE(says(plain, "*2\r\n$3\r\nGET\r\n$1\r\n", ""));  // the rest follows later
  ASSERT_TRUE(says(queued, "MULTI\r\nSET t 1\r\n", "+OK\r\n+QUEUED\r\n"));
  ASSERT_TRUE(says(waiting, "BLPOP q 0\r\n", ""));
  const TimePoint before = BootClock::now();
  old_->worker->hand_over(here_, handover::kVersion);
  take(3);
  EXPECT_TRUE(until([&] { return old_->worker->to_hand_over() == 0; }));
  EXPECT_TRUE(until([&] { return new_->clients() == 3; }));
  EXPECT_EQ(old_->clients(), 0U);
  EXPECT_TRUE(says(plain, "k\r\n", "$1\r\nv\r\n"));
  EXPECT_TRUE(says(queued, "EXEC\r\n", "*1\r\n+OK\r\n"));
  EXPECT_TRUE(says(queued, "RPUSH q e\r\n", ":1\r\n"));
  EXPECT_TRUE(says(waiting, "", "*2\r\n$1\r\nq\r\n$1\r\ne\r\n"));
  // No copy of any name that was requested before the clients came may be served.
  EXPECT_GT(new_->shared->fences.fence_to_join(TimePoint{}), before);
  old_->worker->end_hand_over(false);
}

// The other process ended before it said which numbers it has not given.
TEST_F(HandoverTest, ClientsWithTheSameNumberAreNotMixedUp) {
  const net::Fd moved = connect();
  ASSERT_TRUE(says(moved, "SELECT 2\r\nSET k moved\r\n", "+OK\r\n+OK\r\n"));
  old_->worker->hand_over(here_, handover::kVersion);
  take(1);
  ASSERT_TRUE(says(moved, "GET k\r\n", "$5\r\nmoved\r\n"));
  const net::Fd own = connect(*new_);
  EXPECT_TRUE(says(own, "SET k own\r\nGET k\r\n", "+OK\r\n$3\r\nown\r\n"));
  EXPECT_TRUE(says(moved, "GET k\r\n", "$5\r\nmoved\r\n"));
  EXPECT_TRUE(until([&] { return old_->worker->to_hand_over() == 0; }));
  old_->worker->end_hand_over(false);
}

TEST_F(HandoverTest, ClientsThatTheOtherProcessDidNotConfirmGoOnHere) {
  const net::Fd plain = connect(), waiting = connect();
  ASSERT_TRUE(says(plain, "SELECT 2\r\n", "+OK\r\n"));
  ASSERT_TRUE(says(waiting, "BLPOP q 0\r\n", ""));
  old_->worker->hand_over(here_, handover::kVersion);
  ASSERT_TRUE(until([&] { return old_->clients() == 0; }));
  EXPECT_EQ(old_->worker->to_hand_over(), 2U);
  there_.close();  // the other process has died
  old_->worker->end_hand_over(true);
  EXPECT_TRUE(says(plain, "SET k v\r\nRPUSH q e\r\n", "+OK\r\n:1\r\n"));
  const net::Fd other = connect();
  EXPECT_TRUE(says(other, "SELECT 2\r\nRPUSH q e\r\n", "+OK\r\n:2\r\n"));
  EXPECT_TRUE(says(other, "SELECT 0\r\nRPUSH q e\r\n", "+OK\r\n:1\r\n"));
  EXPECT_TRUE(says(waiting, "", "*2\r\n$1\r\nq\r\n$1\r\ne\r\n"));
}

// The connections of a refused client are closed in the other process, and not read there.
TEST_F(HandoverTest, ARefusedClientGoesOnHereAndIsGivenAgain) {
  const net::Fd waiting = connect();
  ASSERT_TRUE(says(waiting, "BLPOP q 0\r\n", ""));
  old_->worker->hand_over(here_, handover::kVersion);
  for (int refusals = 0; refusals < 2; ++refusals) old_->worker->refused(given_token());
  take(1);
  EXPECT_TRUE(until([&] { return new_->clients() == 1; }));
  EXPECT_TRUE(until([&] { return old_->worker->to_hand_over() == 0; }));
  const net::Fd other = connect(*new_);
  EXPECT_TRUE(says(other, "RPUSH q e\r\n", ":1\r\n"));
  EXPECT_TRUE(says(waiting, "", "*2\r\n$1\r\nq\r\n$1\r\ne\r\n"));
  old_->worker->end_hand_over(false);
}

TEST_F(HandoverTest, AClientThatIsRefusedAfterTheEndGoesOnHere) {
  const net::Fd waiting = connect();
  ASSERT_TRUE(says(waiting, "BLPOP q 0\r\n", ""));
  old_->worker->hand_over(here_, handover::kVersion);
  const std::uint64_t token = given_token();
  old_->worker->end_hand_over(false);
  EXPECT_EQ(old_->worker->to_hand_over(), 1U);
  old_->worker->refused(token);
  EXPECT_TRUE(until([&] { return old_->worker->to_hand_over() == 0; }));
  const net::Fd other = connect(*new_);
  EXPECT_TRUE(says(other, "RPUSH q e\r\n", ":1\r\n"));
  EXPECT_TRUE(says(waiting, "", "*2\r\n$1\r\nq\r\n$1\r\ne\r\n"));
  EXPECT_TRUE(says(waiting, "PING\r\n", "+PONG\r\n"));
}

}  // namespace
}  // namespace heatsink::proxy
