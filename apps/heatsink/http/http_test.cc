// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/http/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>

namespace heatsink::app {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using testing::HasSubstr;

constexpr Nanos kPatience = std::chrono::minutes(1);

// What http_get says of a server that answers one connection with `answer` and, unless it is to
// `hang`, closes it.
Result<std::string> get(const std::string& answer, bool hang = false,
                        std::size_t bytes_max = 1000) {
  asio::io_context io;
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  tcp::socket server(io);
  acceptor.async_accept(server, [&](auto error) {
    if (error) return;
    asio::async_write(server, asio::buffer(answer), [&](auto, std::size_t) {
      boost::system::error_code ignored;
      if (!hang) server.shutdown(tcp::socket::shutdown_send, ignored);
    });
  });
  std::optional<Result<std::string>> result;
  http_get(io, {"127.0.0.1", acceptor.local_endpoint().port()}, "/api/hotkeys", "",
           hang ? Millis(50) : kPatience, bytes_max, [&](Result<std::string> told) {
             EXPECT_FALSE(result.has_value()) << "told twice";
             result = std::move(told);
             io.stop();
           });
  io.run();
  return result.value();
}

TEST(TopHttp, GivesTheBodyOfA200) {
  const auto body = get("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  ASSERT_TRUE(body.ok()) << body.error().message;
  EXPECT_EQ(*body, "hi");
}

TEST(TopHttp, AnotherStatusIsAnErrorWithItsNumber) {
  const auto body = get("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
  ASSERT_FALSE(body.ok());
  EXPECT_EQ(body.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(body.error().message, HasSubstr("404"));
  const auto busy = get("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno");
  ASSERT_FALSE(busy.ok());
  EXPECT_EQ(busy.error().code, ErrorCode::kUnavailable);
}

TEST(TopHttp, ARefusalForWantOfATokenSaysWhatToDo) {
  const auto body = get("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
  ASSERT_FALSE(body.ok());
  EXPECT_THAT(body.error().message, HasSubstr("--token-file"));
}

TEST(TopHttp, WhatIsNotHttpIsSaidToBeNone) {
  const auto body = get("-ERR unknown command 'GET'\r\n\r\n");
  ASSERT_FALSE(body.ok());
  EXPECT_EQ(body.error().code, ErrorCode::kProtocol) << body.error().message;
}

TEST(TopHttp, AnAnswerPastTheLimitIsRefused) {
  const auto announced = get("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n");
  ASSERT_FALSE(announced.ok());
  EXPECT_EQ(announced.error().code, ErrorCode::kOutOfRange);
  const auto unannounced = get("HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x'));
  ASSERT_FALSE(unannounced.ok());
  EXPECT_EQ(unannounced.error().code, ErrorCode::kOutOfRange);
}

TEST(TopHttp, AServerThatHangsIsGivenUp) {
  const auto body = get("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh", true);
  ASSERT_FALSE(body.ok());
  EXPECT_EQ(body.error().code, ErrorCode::kTimedOut);
}

TEST(TopHttp, NobodyListening) {
  asio::io_context io;
  tcp::acceptor deaf(io);  // has the port, and does not listen
  deaf.open(tcp::v4());
  deaf.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  std::optional<Result<std::string>> result;
  http_get(io, {"127.0.0.1", deaf.local_endpoint().port()}, "/", "", kPatience, 1000,
           [&](Result<std::string> told) { result = std::move(told); });
  io.run();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace heatsink::app
