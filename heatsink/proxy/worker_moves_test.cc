// SPDX-License-Identifier: Apache-2.0
// Moves clients between workers all the time, on real sockets and threads and with a real server:
// the clients notice nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/worker.h"
#include "heatsink/relief/shared_state.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kWorkers = 2, kClients = 6;
constexpr int kRounds = 400;
constexpr std::uint64_t kMovesAtLeast = 50;

// Runs two workers and the keeper, each on its thread; clients connect by socket pairs.
class MovesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!server_.running()) GTEST_SKIP() << "redis-server is not installed or does not start";
    policy::ProxyOptions options;
    options.upstream = "unix://" + server_.socket_path();
    options.workers = kWorkers;
    const net::RedisUrl upstream = net::parse_redis_url(options.upstream).value();
    shared_ = std::make_unique<SharedState>(options, upstream, 1);
    shared_->upstream_address.set_addresses(net::resolve_server(upstream).value());
    keeper_ = std::make_unique<copies::CopyKeeper>(*shared_);
    std::vector<copies::KeeperListener*> served;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      workers_.push_back(std::make_unique<Worker>(*shared_, *keeper_, i, net::Fd()));
      served.push_back(workers_.back().get());
    }
    keeper_->serve(std::move(served));
    threads_.emplace_back([this] { keeper_->run(); });
    for (auto& worker : workers_) threads_.emplace_back([&worker] { worker->run(); });
  }

  ~MovesTest() override {
    for (auto& worker : workers_) worker->stop();
    if (keeper_) keeper_->stop();
    for (std::thread& thread : threads_) thread.join();
  }

  // The client's end.
  int connect() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    EXPECT_EQ(fcntl(ends[0], F_SETFL, 0), 0);  // the client's end may block
    Worker& first = *workers_.front();
    const auto stream = std::make_shared<net::Stream>(net::Fd(ends[1]));
    first.loop().post([&first, stream] { first.serve(std::move(*stream), "unix:"); });
    return ends[0];
  }

  // Returns when the worker has run everything that was posted to it before.
  static void await_turn(Worker& worker) {
    std::promise<void> done;
    worker.loop().post([&done] { done.set_value(); });
    done.get_future().wait();
  }

  std::uint64_t moves() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_)
      sum += worker->counters().read(copies::Count::kClientsMoved);
    return sum;
  }

  const resp::testing::RedisProcess server_;
  std::unique_ptr<SharedState> shared_;
  std::unique_ptr<copies::CopyKeeper> keeper_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

// Sends the requests at once and expects exactly these replies.
bool says(int fd, std::string_view requests, std::string_view replies) {
  if (send(fd, requests.data(), requests.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(requests.size()))
    return false;
  std::string heard(replies.size(), '\0');
  std::size_t size = 0;
  while (size < heard.size()) {
    const ssize_t n = read(fd, heard.data() + size, heard.size() - size);
    if (n <= 0) return false;
    size += static_cast<std::size_t>(n);
  }
  return heard == replies;
}

// One client with its own key and database; returns the number of correct rounds.
int play(int fd, std::size_t number) {
  const std::string key = "k" + std::to_string(number);
  const std::string db = std::to_string(number);
  if (!says(fd, "SELECT " + db + "\r\n", "+OK\r\n")) return 0;
  for (int round = 1; round <= kRounds; ++round) {
    const std::string value = std::to_string(round);
    const std::string length = std::to_string(value.size());
    const bool right = says(fd, "SET " + key + " " + value + "\r\nGET " + key + "\r\n",
                            "+OK\r\n$" + length + "\r\n" + value + "\r\n") &&
                       says(fd, "MULTI\r\nINCR " + key + "\r\nEXEC\r\n",
                            "+OK\r\n+QUEUED\r\n*1\r\n:" + std::to_string(round + 1) + "\r\n") &&
                       says(fd, "GET " + key + "\r\nCLIENT GETNAME\r\n",
                            "$" + std::to_string(std::to_string(round + 1).size()) + "\r\n" +
                                std::to_string(round + 1) + "\r\n$-1\r\n");
    if (!right) return round - 1;
  }
  return kRounds;
}

TEST_F(MovesTest, ClientsNoticeNothing) {
  std::vector<int> fds, rounds(kClients, 0);
  for (std::size_t i = 0; i < kClients; ++i) fds.push_back(connect());
  std::atomic<std::size_t> playing = kClients;
  std::vector<std::thread> players;
  for (std::size_t i = 0; i < kClients; ++i) {
    players.emplace_back([&, i] {
      rounds[i] = play(fds[i], i);
      --playing;
    });
  }
  while (playing > 0) {
    for (std::size_t from = 0; from < kWorkers; ++from) {
      workers_[from]->give_clients(Worker::kAllClients, *workers_[(from + 1) % kWorkers]);
      await_turn(*workers_[from]);
    }
  }
  for (std::thread& player : players) player.join();
  for (const int fd : fds) close(fd);
  for (std::size_t i = 0; i < kClients; ++i) EXPECT_EQ(rounds[i], kRounds) << "client " << i;
  EXPECT_GT(moves(), kMovesAtLeast);
}

}  // namespace
}  // namespace heatsink::proxy
