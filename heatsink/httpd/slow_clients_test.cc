// SPDX-License-Identifier: Apache-2.0
// Clients that are slow, and questions that take long: /healthz and /metrics are answered all the
// same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "heatsink/httpd/answers.h"
#include "heatsink/httpd/wire_client_for_test.h"

namespace heatsink::httpd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Clients = std::vector<std::unique_ptr<Client>>;

std::string request(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

void expect_status_pages(const HttpServer& server) {
  EXPECT_THAT(ask(server, get_request("/healthz")), HasSubstr("\r\n\r\nok\n"));
  EXPECT_THAT(ask(server, get_request("/metrics")), HasSubstr("heatsink_hits_total 7\n"));
}

// Blocks its callers until it is opened.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void until_waited_at() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

TEST(AdminSlowClients, HalfRequestsTakeNothingAway) {
  const auto server = start({.listen = {}, .deadline = std::chrono::hours(1)});
  Clients slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(std::make_unique<Client>(*server));
    slow.back()->send("GET / HTTP/1.1\r\nX: ");
    if (i % 50 == 0) expect_status_pages(*server);
  }
  expect_status_pages(*server);
}

TEST(AdminSlowClients, IdleOnesGiveWayTheLongestIdleFirst) {
  const auto server = start({.listen = {}, .connections_max = 2});
  Clients clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<Client>(*server));
    clients.back()->send(request("/healthz"));
    EXPECT_THAT(clients.back()->read_until_text("ok\n"), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_THAT(ask(*server, get_request("/healthz")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(clients[0]->read_all(), "");
  clients[1]->send(request("/healthz"));
  EXPECT_THAT(clients[1]->read_until_text("ok\n"), StartsWith("HTTP/1.1 200 "));
}

TEST(AdminSlowClients, ThoseWhoTakeNoAnswerTakeNothingAway) {
  SamplePages pages;
  pages.slow = [] {
    return std::string(8'000'000, 'x');  // more than sockets hold
  };
  const auto server = start({.listen = {}, .connections_max = 4, .deadline = std::chrono::hours(1)},
                            routes_of(pages));
  Clients slow;
  for (int i = 0; i < 12; ++i) {
    slow.push_back(std::make_unique<Client>(*server));
    slow.back()->send(request("/api/slow"));
    EXPECT_TRUE(slow.back()->hears_within(kPatience));
  }
  expect_status_pages(*server);
}

TEST(AdminSlowClients, AQuestionThatTakesLongHoldsUpNoStatusPage) {
  Gate gate;
  SamplePages pages;
  pages.slow = [&gate] {
    gate.wait();
    return std::string("{}");
  };
  const auto server = start({}, routes_of(pages));
  Clients asking;
  constexpr std::size_t kMore = 3;
  asking.push_back(std::make_unique<Client>(*server));
  asking.back()->send(request("/api/slow"));
  gate.until_waited_at();
  for (std::size_t i = 0; i < Answers::kWaitingMax + kMore; ++i) {
    asking.push_back(std::make_unique<Client>(*server));
    asking.back()->send(request("/api/slow"));
  }
  expect_status_pages(*server);
  EXPECT_THAT(
      asking.back()->read_until_text("later\n"),
      AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("too many requests for this page at once")));
  gate.open();
  EXPECT_THAT(asking.front()->read_until_text("{}"), StartsWith("HTTP/1.1 200 "));
}

TEST(AdminSlowClients, ManyWhoAskForTheMetricsShareOneAnswer) {
  Gate gate;
  std::atomic<int> made{0};
  SamplePages pages;
  pages.metrics = [&] {
    ++made;
    gate.wait();
    return std::string("# shared\n");
  };
  const auto server = start({}, routes_of(pages));
  Clients asking;
  for (std::size_t i = 0; i < Answers::kWaitingMax; ++i) {
    asking.push_back(std::make_unique<Client>(*server));
    asking.back()->send(request("/metrics"));
    if (i == 0) gate.until_waited_at();
  }
  EXPECT_THAT(ask(*server, get_request("/")), HasSubstr("/metrics"));  // the others are read by now
  gate.open();
  for (const auto& client : asking)
    EXPECT_THAT(client->read_until_text("# shared\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_LT(made, static_cast<int>(Answers::kWaitingMax));
}

TEST(AdminSlowClients, WhileAllAreBeingAnsweredOneMoreIsTold) {
  Gate gate;
  SamplePages pages;
  pages.ready = [&gate] {
    gate.wait();
    return Status(Unit{});
  };
  const auto server = start({.listen = {}, .connections_max = 1}, routes_of(pages));
  Client first(*server);
  first.send(request("/healthz"));
  gate.until_waited_at();
  EXPECT_THAT(Client(*server).read_all(),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("too many connections\n")));
  gate.open();
  EXPECT_THAT(first.read_until_text("ok\n"), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace heatsink::httpd
