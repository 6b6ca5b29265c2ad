// SPDX-License-Identifier: Apache-2.0
// Readers with real sockets; one of them does not read.
#include "heatsink/httpd/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <list>

#include "heatsink/httpd/wire_client_for_test.h"

namespace heatsink::httpd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Numbered messages, each with `filling` bytes.
struct Numbers {
  std::shared_ptr<EventSource> source() {
    auto out = std::make_shared<EventSource>();
    out->next = [this](const Now&) {
      if (is_held) return std::string();
      const std::string number = std::to_string(++made);
      return "id: " + number + "\ndata: next " + number + std::string(filling, '.') + "\n\n";
    };
    out->first = [](const Now&, std::string_view last_id) {
      return "data: first after '" + std::string(last_id) + "'\n\n";
    };
    return out;
  }
  std::vector<Route> routes() {
    std::vector<Route> routes = sample_routes();
    Route stream{"/api/stream", "a stream", Pace::kSlow, [](const Question&) {
                   return Answer{200, "", "text/event-stream"};
                 }};
    stream.events = source();
    routes.push_back(std::move(stream));
    return routes;
  }
  HttpServerOptions options() const {
    HttpServerOptions out;
    out.stream_interval = Millis(5);
    return out;
  }

  std::size_t filling = 0;
  std::atomic<bool> is_held{false};  // no message is made
  std::atomic<int> made{0};
};

std::string stream_request(const std::string& more = "") {
  return "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

TEST(Streams, EachReaderGetsFirstWhatItMissedAndThenAllThatComes) {
  Numbers numbers;
  numbers.is_held = true;  // until both have joined: who joins late never sees the early numbers
  const auto server = start(numbers.options(), numbers.routes());
  Client one(*server), other(*server);
  one.send(stream_request());
  other.send(stream_request("Last-Event-ID: 41\r\n"));
  EXPECT_THAT(
      one.read_until_text("data: first after ''\n\n"),
      AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Type: text/event-stream\r\n")));
  EXPECT_THAT(other.read_until_text("data: first after '41'\n\n"), StartsWith("HTTP/1.1 200"));
  numbers.is_held = false;
  for (Client* reader : {&one, &other})
    EXPECT_THAT(reader->read_until_text("data: next 3\n\n"),
                StartsWith("id: 1\ndata: next 1\n\nid: 2\ndata: next 2\n\nid: 3\n"));
}

TEST(Streams, OneThatDoesNotReadMissesMessagesAndHoldsUpNobody) {
  Numbers numbers;
  numbers.filling = 1 << 20;
  const auto server = start(numbers.options(), numbers.routes());
  Client slow(*server), quick(*server);
  slow.send(stream_request());
  slow.read_until_text("data: next ");
  quick.send(stream_request());
  int seen = numbers.made;
  for (const int until = seen + 20; seen < until; seen = numbers.made)
    quick.read_until_text("data: next ");
  EXPECT_THAT(ask(*server, get_request("/healthz")), HasSubstr("ok\n"));
  // It goes on with the message that was on its way, and then it is told what it has.
  const std::string rest = slow.read_until_text("data: first after '");
  EXPECT_LT(rest.size(), 3U << 20);
  EXPECT_THAT(rest, Not(HasSubstr("next " + std::to_string(seen))));
}

TEST(Streams, HaveALimitOfTheirOwn) {
  Numbers numbers;
  HttpServerOptions options = numbers.options();
  options.connections_max = 2;
  const auto server = start(options, numbers.routes());
  std::list<Client> readers;
  for (std::size_t i = 0; i < Streams::kReadersMax; ++i) {
    readers.emplace_back(*server).send(stream_request());
    EXPECT_THAT(readers.back().read_until_text("data: next"), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_THAT(ask(*server, get_request("/api/stream")), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(ask(*server, get_request("/healthz")), StartsWith("HTTP/1.1 200"));
  readers.pop_front();
  std::string reply;
  do {
    Client next(*server);
    next.send(stream_request());
    reply = next.read_until_text("\r\n\r\n");
  } while (!reply.starts_with("HTTP/1.1 200"));
}

TEST(Streams, NeedTheTokenAndEndWhenItChanges) {
  Numbers numbers;
  HttpServerOptions options = numbers.options();
  options.token = "0123456789abcdef";
  const auto server = start(options, numbers.routes());
  EXPECT_THAT(ask(*server, get_request("/api/stream")), StartsWith("HTTP/1.1 401"));
  Client reader(*server);
  reader.send(stream_request("Authorization: Bearer 0123456789abcdef\r\n"));
  EXPECT_THAT(reader.read_until_text("data: next"), StartsWith("HTTP/1.1 200"));
  server->set_token("another-token-of-16");
  reader.read_all();  // returns: the server has closed it
}

TEST(Streams, HeadHasNoMessagesAndPostIsRefused) {
  Numbers numbers;
  const auto server = start(numbers.options(), numbers.routes());
  const std::string head =
      ask(*server, "HEAD /api/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  EXPECT_THAT(ask(*server,
                  "POST /api/stream HTTP/1.1\r\nHost: localhost\r\nConnection: "
                  "close\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
}

}  // namespace
}  // namespace heatsink::httpd
