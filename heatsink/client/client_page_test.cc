// SPDX-License-Identifier: Apache-2.0
// The HTTP page of a client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
#include "heatsink/net/net.h"

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
