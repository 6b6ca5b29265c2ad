// SPDX-License-Identifier: Apache-2.0
// The HTTP page of a client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "heatsink/client/client.h"
#include "heatsink/client/stage_for_test.h"
#include "heatsink/heat/heat.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Below the range of ephemeral ports, so that no other program gets it by chance.
std::uint16_t free_port() {
  boost::asio::io_context context;
  std::random_device device;
  for (;;) {
    const auto port = static_cast<std::uint16_t>(22'000 + device() % 10'000);
    boost::asio::ip::tcp::acceptor acceptor(context, boost::asio::ip::tcp::v4());
    boost::system::error_code error;
    acceptor.bind({boost::asio::ip::make_address("127.0.0.1"), port}, error);
    if (!error) return port;
  }
}

// The whole response; "": no listener.
std::string get(std::uint16_t port, const std::string& path, const std::string& headers = "") {
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  boost::system::error_code error;
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), port}, error);
  if (error) return "";
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n";
  boost::asio::write(socket, boost::asio::buffer(request), error);
  std::string answer;
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), error);
  return answer;
}

struct Page {
  explicit Page(ClientOptions options = eager())
      : port(free_port()), stage([&] {
          options.admin_listen = "127.0.0.1:" + std::to_string(port);
          return options;
        }()) {}

  std::uint16_t port;
  Stage stage;
};

TEST(ClientPage, ShowsHotKeysWithTheirEvidence) {
  Page page;
  page.stage.source.write("a", "1");
  ASSERT_TRUE(page.stage.get_hot("a"));
  EXPECT_TRUE(eventually([&] {
    page.stage.get("a");
    const std::string told = get(page.port, "/api/hotkeys");
    return told.find("\"name\":\"a\"") != told.npos && told.find("\"cached\":true") != told.npos &&
           told.find("\"hot_keys\":1") != told.npos;
  }));
  const std::string told = get(page.port, "/api/hotkeys");
  EXPECT_THAT(told, HasSubstr("\"upstream\":\"the loader\""));
  EXPECT_THAT(told, HasSubstr("\"coherence\":\"up\""));
  EXPECT_THAT(told, HasSubstr("\"level\":\"ttl\""));
  EXPECT_THAT(get(page.port, "/api/events"), HasSubstr("\"name\":\"a\""));
}

TEST(ClientPage, ListsTheCopiesThatSaveMostThoughNoneIsHot) {
  ClientOptions options;
  options.refresh_enabled = false;
  Page page(options);
  const std::string hostile("\x1b[2J\xff");
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i) page.stage.get("page");
    page.stage.get(hostile);
    page.stage.get("changing");
    page.stage.get("changing");
    page.stage.client.invalidate("changing");
    page.stage.get("unread");
    page.stage.client.invalidate("unread");
    const std::string told = get(page.port, "/api/hotkeys");
    return told.find("\"top\":[{\"name\":\"page\"") != told.npos &&
           told.find("{\"name\":\"\\\\x1b[2J\\\\xff\"") != told.npos;
  }));
  const std::string told = get(page.port, "/api/hotkeys");
  EXPECT_THAT(told, HasSubstr("\"commands\":[\"read\"]"));
  EXPECT_THAT(told, HasSubstr("\"server_cpu\":null")) << "there is no server";
  EXPECT_THAT(told, HasSubstr("\"fill_cost\":0,"));
  const boost::json::value copies =
      boost::json::parse(told.substr(told.find("\r\n\r\n") + 4)).at("copies");
  EXPECT_GT(copies.at("refused").at("written").to_number<double>(), 0);
  for (const boost::json::value& row : copies.at("top").as_array()) {
    if (row.at("name") != "changing") continue;
    EXPECT_GT(row.at("fills_rate").to_number<double>(), 0);
    EXPECT_GT(row.at("invalidations_rate").to_number<double>(), 0);
    return;
  }
  ADD_FAILURE() << "the key that changes is missing: " << told;
}

// Calls of all commands since the server's start.
std::uint64_t executed_by(const resp::testing::RedisProcess& server) {
  const std::string told = server.ask({"INFO", "commandstats"});
  std::uint64_t sum = 0;
  constexpr std::string_view kCalls = ":calls=";
  for (std::size_t at = told.find(kCalls); at != told.npos; at = told.find(kCalls, at + 1))
    sum += std::stoull(told.substr(at + kCalls.size()));
  return sum;
}

boost::json::value node_of(std::uint16_t port) {
  const std::string told = get(port, "/api/hotkeys");
  return boost::json::parse(told.substr(told.find("\r\n\r\n") + 4)).at("node");
}

// Another client's writes end the copies, so reads load them again, each with two commands beside
// the read. Handshakes, heartbeats, and loads ahead of the reads come on top.
void expect_load_taken_off(int reads_per_foreign_write, int reads_per_write) {
  const resp::testing::RedisProcess server;
  if (!server.running()) GTEST_SKIP() << "redis-server is not installed or does not start";
  constexpr int kReads = 4000;
  constexpr double kPoints = 0.03;
  const std::uint64_t before = executed_by(server);
  ClientOptions options;
  options.server_url = "unix://" + server.socket_path();
  options.window = std::chrono::minutes(4);  // all of the test
  Page page(options);
  const Client<>& client = page.stage.client;
  ASSERT_TRUE(eventually([&] { return client.stats().server_problem.empty(); }));
  const std::vector<std::string> ahead = {"b", "c", "d"};
  ASSERT_THAT(client.warm(ahead), ::testing::IsEmpty());
  std::uint64_t foreign = 0, accesses = kReads;
  std::thread([&] {  // the end of the thread counts all its accesses
    for (int i = 0; i < kReads; ++i) {
      if (i % reads_per_foreign_write == 0) {
        ASSERT_EQ(server.ask({"SET", "a", "v"}), "+OK\r\n");
        ++foreign;
        // The notice ends the copy; those of `ahead` stay.
        ASSERT_TRUE(eventually([&] { return client.stats().copies <= ahead.size(); }));
      }
      if (i % reads_per_write == 0) {
        client.set("a", "w");
        ++accesses;
      }
      ASSERT_TRUE(client.get("a"));
    }
  })
      .join();
  ASSERT_TRUE(eventually([&] {
    const Stats now = client.stats();
    return now.in_window.reads + now.in_window.writes == accesses;
  }));
  const double shown = node_of(page.port).at("offload").to_number<double>();
  const std::uint64_t executed = executed_by(server) - before - foreign - 1;  // the first INFO
  const double spared = 1 - static_cast<double>(executed) / static_cast<double>(accesses);
  EXPECT_NEAR(shown, spared, kPoints);
  EXPECT_LT(spared, 0.95) << "loads cost the server something";
  EXPECT_NEAR(node_of(page.port).at("server_commands_rate").to_number<double>(),
              static_cast<double>(executed) / std::chrono::duration<double>(options.window).count(),
              0.01 * kReads);
}

TEST(ClientPage, LoadTakenOffIsWhatTheServerWasSpared) { expect_load_taken_off(20, 4000); }
TEST(ClientPage, LoadTakenOffCountsTheClientsOwnWrites) { expect_load_taken_off(4000, 10); }
TEST(ClientPage, CopiesThatLiveForOneReadTakeNothingOff) { expect_load_taken_off(2, 3); }

TEST(ClientPage, WithCopiesOfHotKeysOnlyThereIsNoChoiceToShow) {
  EXPECT_THAT(get(Page().port, "/api/hotkeys"), HasSubstr("\"copies\":null"));
}

// NaN: the report does not contain it.
double absent_max(std::uint16_t port) {
  const std::string told = get(port, "/api/hotkeys");
  const std::string member = "\"absent_max\":";
  const std::size_t at = told.find(member);
  if (at == std::string::npos || told.compare(at + member.size(), 4, "null") == 0)
    return std::nan("");
  return std::stod(told.substr(at + member.size()));
}

TEST(ClientPage, TellsWhatAKeyThatIsNotListedHasAtMost) {
  ClientOptions options = eager();
  options.window = std::chrono::minutes(1);
  Page page(options);
  EXPECT_TRUE(eventually([&] { return absent_max(page.port) == 0; }));
  std::thread([&page] {  // the end of the thread counts all its accesses
    for (int i = 0; i < 60; ++i) page.stage.get("cold");
  })
      .join();
  EXPECT_TRUE(eventually([&] { return absent_max(page.port) > 0; }));
  EXPECT_NEAR(absent_max(page.port), 1, 0.01);
}

TEST(ClientPage, ShowsWhatWasHotWhen) {
  Page page;
  ASSERT_TRUE(page.stage.get_hot("user:1"));
  const auto map = [&page] {
    const std::string told = get(page.port, "/api/heatmap");
    return boost::json::parse(told.substr(told.find("\r\n\r\n") + 4));
  };
  const auto has_row = [&map](const char* kind, const char* name) {
    const boost::json::value told = map();
    for (const boost::json::value& row : told.at("rows").as_array())
      if (row.at("kind") == kind && row.at("name") == name) return true;
    return false;
  };
  EXPECT_TRUE(eventually([&] {
    page.stage.get("user:1");
    return has_row("key", "user:1") && has_row("template", "user:*");
  }));
  EXPECT_EQ(map().at("source"), "memory");
  EXPECT_EQ(map().at("has_file"), false);
}

TEST(ClientPage, GivesItsCountsToAWatch) {
  Page page;
  ASSERT_TRUE(page.stage.get_hot("user:1"));
  EXPECT_TRUE(eventually([&] {
    page.stage.get("user:1");
    const std::string told = get(page.port, "/api/counts");
    const auto counts = heat::parse_moment(told.substr(told.find("\r\n\r\n") + 4), TimePoint());
    if (!counts.ok()) return false;
    return std::ranges::any_of(counts->items, [](const heat::Item& item) {
      return item.identity.name == "user:1" && item.rate > 0 && item.rate_high >= item.rate;
    });
  }));
}

TEST(ClientPage, ABrowserGetsThePage) {
  Page page;
  EXPECT_THAT(get(page.port, "/", "Accept: text/html\r\n"), HasSubstr("<!doctype html>"));
  EXPECT_THAT(get(page.port, "/page/app.js"), HasSubstr("200 OK"));
  EXPECT_THAT(get(page.port, "/"), HasSubstr("/api/heatmap")) << "curl gets the list of pages";
}

// As long as a reader wants: the first column and state of its stream.
TEST(ClientPage, StreamsColumns) {
  Page page;
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), page.port});
  boost::asio::write(
      socket,
      boost::asio::buffer(std::string("GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")));
  std::string read;
  while (read.find("event: column\n") == read.npos || read.find("event: state\n") == read.npos) {
    page.stage.get("user:1");
    char some[4096];
    const std::size_t count = socket.read_some(boost::asio::buffer(some));
    read.append(some, count);
  }
  EXPECT_THAT(read, HasSubstr("text/event-stream"));
}

TEST(ClientPage, HasMetricsAndHealth) {
  Page page;
  EXPECT_THAT(get(page.port, "/metrics"), HasSubstr("\nheatsink_cache_entries 0\n"));
  EXPECT_THAT(get(page.port, "/healthz"), HasSubstr("200 OK"));
  for (const char* path : {"/api/warm", "/api/stats?key=a", "/api/key?name=a"})
    EXPECT_THAT(get(page.port, path), HasSubstr("404 Not Found")) << path;
}

TEST(ClientPage, IsNotHealthyWithoutTheServer) {
  ClientOptions options = quiet();
  options.server_url = "redis://127.0.0.1:" + std::to_string(free_port());
  Page page(options);
  EXPECT_THAT(get(page.port, "/healthz"), HasSubstr("503 "));
  EXPECT_THAT(get(page.port, "/api/hotkeys"), Not(HasSubstr("\"coherence\":\"up\"")));
}

TEST(ClientPage, WantsTheToken) {
  ClientOptions options = quiet();
  options.admin_token = "0123456789abcdef";
  Page page(options);
  EXPECT_THAT(get(page.port, "/metrics"), HasSubstr("401 "));
  EXPECT_THAT(get(page.port, "/metrics", "Authorization: Bearer 0123456789abcdef\r\n"),
              HasSubstr("200 OK"));
}

TEST(ClientPage, EndsWithTheClient) {
  Page page;
  EXPECT_NE(get(page.port, "/healthz"), "");
  page.stage.client.close();
  EXPECT_EQ(get(page.port, "/healthz"), "");
}

// Like the second process of a server that forks its workers.
TEST(ClientPage, APortThatIsTakenIsNoError) {
  Page first;
  ClientOptions options = quiet();
  options.admin_listen = "127.0.0.1:" + std::to_string(first.port);
  Stage second(options);
  second.source.write("a", "1");
  EXPECT_EQ(second.get("a"), "1");
}

TEST(ClientPage, WhatCannotBeIsToldAtOnce) {
  ClientOptions options = quiet();
  options.admin_listen = "10.0.0.1:80";
  EXPECT_THROW(Client<> client(options), std::invalid_argument);
  options.admin_listen = "localhost";
  EXPECT_THROW(Client<> client(options), std::invalid_argument);
  options.admin_listen = "127.0.0.1:0";
  options.admin_token_file = "/nonexistent";
  EXPECT_THROW(Client<> client(options), std::invalid_argument);
  EXPECT_THAT(ClientOptions{}.with("admin.listen", "0.0.0.0:80").error().message,
              HasSubstr("admin.listen: cannot listen on 0.0.0.0:80: without admin.token"));
  EXPECT_THAT(ClientOptions{}.with("admin.token", "short").error().message,
              HasSubstr("admin.token: "));
}

}  // namespace
}  // namespace heatsink::client
