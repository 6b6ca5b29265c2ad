// SPDX-License-Identifier: Apache-2.0
// A real client on a real socket; the contents of answers are tested in routes_test.cc.
#include "heatsink/httpd/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "heatsink/httpd/wire_client_for_test.h"

namespace heatsink::httpd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(AdminServer, AnswersOverTheWire) {
  const auto server = start();
  EXPECT_THAT(ask(*server, get_request("/healthz")),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Length: 3\r\n"),
                    HasSubstr("\r\n\r\nok\n"), HasSubstr("Content-Type: text/plain"),
                    HasSubstr("Cache-Control: no-store\r\n"),
                    HasSubstr("X-Content-Type-Options: nosniff\r\n"), HasSubstr(" GMT\r\n"),
                    Not(HasSubstr("Access-Control"))));
  EXPECT_THAT(ask(*server, get_request("/api/order?a=b")), HasSubstr("\r\n\r\n3"));
  EXPECT_THAT(ask(*server, get_request("/nope")), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(
      ask(*server, "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"), HasSubstr("Allow: GET, HEAD\r\n")));
  EXPECT_THAT(ask(*server, "GET / HTTP/1.0\r\n\r\n"), HasSubstr(" 200 OK\r\n"));
}

TEST(AdminServer, HeadHasTheHeaderOfGetAndNoBody) {
  const auto server = start();
  const std::string head = "HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const std::string reply = ask(*server, head);
  EXPECT_THAT(reply, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Length: 3\r\n")));
  EXPECT_TRUE(reply.ends_with("\r\n\r\n")) << reply;
}

TEST(AdminServer, PipelinedRequestsAreAnsweredInOrderOnOneConnection) {
  const auto server = start();
  const std::string first = "GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string head = "HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string reply = ask(*server, first + head + get_request("/metrics"));
  const std::size_t not_found = reply.find("HTTP/1.1 404");
  const std::size_t ok = reply.find("HTTP/1.1 200");
  const std::size_t metrics = reply.find("heatsink_hits_total 7\n");
  EXPECT_LT(not_found, ok) << reply;
  EXPECT_LT(ok, metrics) << reply;
  EXPECT_NE(metrics, std::string::npos) << reply;
}

// Asks until the answer has this text; false: it never has.
bool is_answered_with(const HttpServer& server, std::string_view path, const char* text) {
  for (int i = 0; i < 1000; ++i)
    if (ask(server, get_request(path)).find(text) != std::string::npos) return true;
  return false;
}

TEST(AdminServer, TwoServersShareASocketAndOneCanPause) {
  const auto first = start();
  const int copy = fcntl(first->listener(), F_DUPFD_CLOEXEC, 0);
  const auto second = start({.listen = first->address(), .listener = copy},
                            {{"/second", "", Pace::kSlow, [](const Question&) {
                                return Answer{200, "the second"};
                              }}});
  EXPECT_EQ(second->address().port, first->address().port);
  first->set_accepting(false);
  EXPECT_TRUE(is_answered_with(*first, "/second", "the second"));
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(ask(*first, get_request("/second")), HasSubstr("the second"));
  second->set_accepting(false);
  first->set_accepting(true);
  EXPECT_TRUE(is_answered_with(*first, "/healthz", " 200 OK"));
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(ask(*first, get_request("/healthz")), HasSubstr(" 200 OK"));
}

TEST(AdminServer, NamesOfOthersAreRefused) {
  const auto server = start();
  const std::string end = "Connection: close\r\n\r\n";
  EXPECT_THAT(ask(*server, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n" + end),
              AllOf(StartsWith("HTTP/1.1 403 Forbidden\r\n"), Not(HasSubstr("heatsink_hits"))));
  EXPECT_THAT(ask(*server, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n" + end),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(ask(*server, "GET / HTTP/1.1\r\n" + end), StartsWith("HTTP/1.1 400 "));
}

TEST(AdminServer, MalformedRequestsGet400AndAClose) {
  const auto server = start();
  for (const char* request :
       {"\r\n\r\n\r\n\r\nx y z\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"}) {
    EXPECT_THAT(ask(*server, request), StartsWith("HTTP/1.1 400 ")) << request;
  }
}

TEST(AdminServer, LimitsOfARequestAreKept) {
  const auto server = start();
  const std::string start_of = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_THAT(ask(*server, start_of + "X: " + std::string(100'000, 'x')),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask(*server, start_of + "Content-Length: 3\r\n\r\nabc"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask(*server, start_of + "Content-Length: 99999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask(*server, start_of + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
}

// Most clients send the whole body before they look for an answer.
TEST(AdminServer, AClientThatSendsAllOfALargeBodyIsToldWhy) {
  const auto server = start();
  Client client(*server);
  const std::size_t bytes = std::size_t{3} << 20;
  EXPECT_TRUE(client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                          std::to_string(bytes) + "\r\n\r\n"));
  EXPECT_TRUE(client.send(std::string(bytes, 'x')));
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 413 "));
}

TEST(AdminServer, RequestThatStopsHalfwayIsClosedAtTheDeadline) {
  const auto server = start({.listen = {}, .deadline = Millis(100)});
  Client client(*server);
  client.send("GET / HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(client.read_all(), "");
}

TEST(AdminServer, DrippingBytesDoesNotMoveTheDeadline) {
  const auto server = start({.listen = {}, .deadline = Millis(100)});
  Client client(*server);
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
  // Each byte comes long before the deadline; the server's limit is 8 KiB.
  int sent = 0;
  while (!client.hears_within(Millis(5)) && sent < 2000) sent += client.send("x") ? 1 : 0;
  EXPECT_LT(sent, 2000);
}

TEST(AdminServer, IdleConnectionIsClosedAtTheDeadline) {
  const auto server = start({.listen = {}, .deadline = Millis(100)});
  Client client(*server);
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.read_all(), HasSubstr("\r\n\r\nok\n"));
}

TEST(AdminServer, EndsWithConnectionsOpen) {
  auto server = start();
  Client idle(*server);
  Client halfway(*server);
  halfway.send("GET / HTTP/1.1\r\n");
  idle.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(idle.read_until_text("ok\n"), StartsWith("HTTP/1.1 200 "));
  server.reset();
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(halfway.read_all(), "");
}

TEST(AdminServer, OnlyLoopbackIsListenedOn) {
  for (const char* host : {"", "0.0.0.0", "::", "10.0.0.1", "example.com", "8.8.8.8"}) {
    const auto server = HttpServer::start({.listen = {host, 0}}, sample_routes());
    ASSERT_FALSE(server.ok()) << host;
    EXPECT_EQ(server.error().code, ErrorCode::kPermission);
    EXPECT_THAT(
        server.error().message,
        HasSubstr(
            "without admin.token every host there could use the admin API: listen on loopback"));
  }
  EXPECT_EQ(start({.listen = {"localhost", 0}})->address().host, "127.0.0.1");
  EXPECT_NE(start({.listen = {"127.0.0.2", 0}})->address().port, 0);
}

TEST(AdminServer, TakenPortIsNamed) {
  const auto first = start();
  const auto second = HttpServer::start({.listen = first->address()}, sample_routes());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(second.error().message, "cannot listen on " + first->address().text() +
                                        " for the admin API: Address already in use: stop the "
                                        "program that uses it, or choose another port");
}

}  // namespace
}  // namespace heatsink::httpd
