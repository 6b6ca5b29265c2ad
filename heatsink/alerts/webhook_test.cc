// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <future>
#include <memory>
#include <thread>

namespace heatsink::alerts {
namespace {

using boost::asio::ip::tcp;
using ::testing::HasSubstr;

const std::atomic<bool> kNotStopped{false};

// Accepts one connection, reads the request, and sends `answer`; "": it waits for the end.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer)
      : acceptor_(io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
        thread_([this, answer = std::move(answer)] { serve(answer); }) {}
  ~OneAnswer() { thread_.join(); }

  WebhookOptions options() const {
    return {.url = {.host = "127.0.0.1",
                    .port = acceptor_.local_endpoint().port(),
                    .target = "/hook?x=1"},
            .token = "0123456789abcdef",
            .timeout = std::chrono::minutes(1)};
  }
  std::string request;  // valid after the post

 private:
  void serve(const std::string& answer) {
    boost::system::error_code error;
    tcp::socket socket = acceptor_.accept(error);
    std::array<char, 4096> buffer;
    while (request.find("BODY") == std::string::npos && !error) {
      const std::size_t n = socket.read_some(boost::asio::buffer(buffer), error);
      request.append(buffer.data(), n);
    }
    if (!answer.empty()) boost::asio::write(socket, boost::asio::buffer(answer), error);
    while (answer.empty() && !error) socket.read_some(boost::asio::buffer(buffer), error);
  }

  boost::asio::io_context io_;
  tcp::acceptor acceptor_;
  std::thread thread_;
};

Outcome outcome_of_answer(std::string answer) {
  OneAnswer server(std::move(answer));
  return (*Webhook::make(server.options()))->post("BODY", kNotStopped);
}

TEST(Webhook, PostsTheBodyAndTheToken) {
  std::string request;
  {
    OneAnswer server("HTTP/1.1 204 No Content\r\n\r\n");
    const Outcome outcome = (*Webhook::make(server.options()))->post("BODY", kNotStopped);
    EXPECT_EQ(outcome.kind, Outcome::Kind::kDelivered) << outcome.problem;
    request = server.request;
  }
  EXPECT_THAT(request, ::testing::StartsWith("POST /hook?x=1 HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(request, HasSubstr("Authorization: Bearer 0123456789abcdef\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(request, ::testing::EndsWith("\r\n\r\nBODY"));
}

TEST(Webhook, TheStatusSaysWhetherToTryAgain) {
  Outcome outcome = outcome_of_answer("HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nbad\x1b");
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_EQ(outcome.problem, "it answers with status 500 (bad\\x1b)");
  outcome = outcome_of_answer("HTTP/1.1 429 Slow\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_EQ(outcome.wait_at_least, std::chrono::seconds(30));
  EXPECT_EQ(outcome_of_answer("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n").kind,
            Outcome::Kind::kRefused);
  EXPECT_EQ(outcome_of_answer("HTTP/1.1 302 Go\r\nLocation: http://evil/\r\nContent-Length: "
                              "0\r\n\r\n")
                .kind,
            Outcome::Kind::kRefused);
  outcome = outcome_of_answer("+OK\r\n\r\n");
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_THAT(outcome.problem, HasSubstr("does not answer in HTTP"));
}

TEST(Webhook, AnAnswerThatRepeatsASecretIsNotShown) {
  for (const std::string text : {"no /hook here", "no \\/hook here", "x=1 is unknown",
                                 "token 0123456789abcdef is unknown"}) {
    const Outcome outcome = outcome_of_answer(
        "HTTP/1.1 404 No\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
    EXPECT_EQ(outcome.kind, Outcome::Kind::kRefused);
    EXPECT_EQ(outcome.problem, "it answers with status 404");
  }
}

TEST(Webhook, ASilentNameServerHoldsUpOneThreadOnly) {
  OneAnswer server("HTTP/1.1 204 No Content\r\n\r\n");
  WebhookOptions options = server.options();
  options.url.host = "webhook.test";
  options.timeout = Millis(30);
  std::promise<void> answers;
  const auto blocks = [is_there = answers.get_future().share()](std::atomic<int>* calls) {
    return [is_there, calls](net::HostPort address) {
      if (calls != nullptr) ++*calls;
      is_there.wait();
      address.host = "127.0.0.1";
      return net::resolve_numeric(address);
    };
  };
  options.look_up = blocks(nullptr);
  // Its end waits for no look-up.
  EXPECT_EQ((*Webhook::make(options))->post("BODY", kNotStopped).problem,
            "the name server does not answer");
  options.timeout = std::chrono::minutes(1);
  std::atomic<int> calls{0};
  options.look_up = blocks(&calls);
  const std::shared_ptr<Webhook> webhook = *Webhook::make(options);
  const std::atomic<bool> stop{true};
  EXPECT_EQ(webhook->post("BODY", stop).problem, "heatsink ends");
  EXPECT_EQ(webhook->post("BODY", stop).problem, "heatsink ends");
  answers.set_value();
  EXPECT_EQ(webhook->post("BODY", kNotStopped).kind, Outcome::Kind::kDelivered);
  EXPECT_EQ(calls, 1);
}

TEST(Webhook, OneThatHangsEndsInTimeAndWithTheProxy) {
  {
    OneAnswer server("");
    WebhookOptions options = server.options();
    options.timeout = Millis(30);
    const Outcome outcome = (*Webhook::make(options))->post("BODY", kNotStopped);
    EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
    EXPECT_EQ(outcome.problem, "it does not answer within 30ms");
  }
  const std::atomic<bool> stop{true};
  const WebhookOptions nowhere{.url = {.host = "127.0.0.1", .port = 9, .target = "/"}};
  EXPECT_EQ((*Webhook::make(nowhere))->post("BODY", stop).problem, "heatsink ends");
}

TEST(Webhook, NoConnectionIsTriedAgain) {
  boost::asio::io_context io;
  tcp::acceptor gone(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  WebhookOptions options{
      .url = {.host = "127.0.0.1", .port = gone.local_endpoint().port(), .target = "/"}};
  gone.close();
  const Outcome outcome = (*Webhook::make(options))->post("BODY", kNotStopped);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRetry);
  EXPECT_THAT(outcome.problem, HasSubstr("cannot connect: Connection refused"));
}

TEST(Webhook, AuthoritiesThatCannotBeReadAreNamed) {
  WebhookOptions options{.url = {.tls = true, .host = "a", .port = 443, .target = "/"},
                         .ca_file = "/nowhere/ca.pem"};
  const auto webhook = Webhook::make(options);
  ASSERT_FALSE(webhook.ok());
  EXPECT_THAT(webhook.error().message, HasSubstr("/nowhere/ca.pem"));
}

}  // namespace
}  // namespace heatsink::alerts
