// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/client_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Takes each request, and what begins with "RUN\n" as runs of four bytes.
class ClientInputTest : public testing::Test, public ClientInput::Client {
 protected:
  ClientInputTest() {
    resp::RequestLimits limits;
    limits.buffered_bytes_max = 100;
    input.set_limits(limits, false);
  }
  void take(std::string_view bytes) { input.take(bytes, TimePoint{}); }
  std::vector<std::string> taken() { return std::exchange(events, {}); }

  ClientInput input{*this};
  Awaited stalls = Awaited::kNothing;  // each request waits for this
  bool has_room = true, has_left = false, closes = false;
  std::vector<std::string> events;

 private:
  bool closed() const override { return has_left; }
  bool is_closing() const override { return closes; }
  bool may_take() const override { return has_room; }
  std::size_t take_run(std::string_view bytes, TimePoint /*now*/) override {
    if (!bytes.starts_with("RUN\n")) return 0;
    events.emplace_back("run");
    return 4;
  }
  Step take(Request& request) override {
    if (stalls != Awaited::kNothing) {
      input.stall(stalls);
      return Step::kStall;
    }
    events.push_back(std::string(request.args()[0]) + (request.is_last ? " last" : "") +
                     (request.is_alone ? " alone" : ""));
    return Step::kDone;
  }
  Step take_oversized(Request& request) override {
    events.push_back("begins " + std::string(request.args()[0]));
    input.begin_oversized(OversizedRequest::Fate::kSent);
    return Step::kDone;
  }
  void send_rest(std::string_view bytes) override {
    events.push_back(std::to_string(bytes.size()) + " bytes");
  }
  void rest_is_broken() override { events.emplace_back("is broken"); }
  void refuse(std::string_view error) override {
    events.push_back("-" + std::string(error));
    closes = true;
  }
  void refuse_tls() override { refuse("tls"); }
};

TEST_F(ClientInputTest, RequestsAreTakenInOrder) {
  take("PING\r\n");
  EXPECT_THAT(taken(), ElementsAre("PING last alone"));
  take("PING\r\nRUN\nRUN\n*1\r\n$4\r\nECHO\r\n\r\n");
  EXPECT_THAT(taken(), ElementsAre("PING", "run", "run", "ECHO"));
  EXPECT_EQ(input.bytes(), "");
}

TEST_F(ClientInputTest, HalfARequestIsKept) {
  take("PING\r\nEC");
  EXPECT_THAT(taken(), ElementsAre("PING"));
  EXPECT_EQ(input.bytes(), "EC");
  take("HO\r\n");
  EXPECT_THAT(taken(), ElementsAre("ECHO last alone"));
}

TEST_F(ClientInputTest, ARequestWaitsAndSoDoThoseBehindIt) {
  stalls = Awaited::kDrain;
  take("PING\r\nECHO\r\n");
  EXPECT_THAT(taken(), IsEmpty());
  ASSERT_NE(input.waiting(), nullptr);
  EXPECT_EQ(input.awaited(), Awaited::kDrain);
  EXPECT_EQ(input.bytes(), "ECHO\r\n");
  input.go_on(TimePoint{});
  EXPECT_NE(input.waiting(), nullptr);
  stalls = Awaited::kNothing;
  input.go_on(TimePoint{});
  EXPECT_THAT(taken(), ElementsAre("PING", "ECHO last alone"));
  EXPECT_TRUE(input.waiting() == nullptr && input.waits_for_nothing());
}

TEST_F(ClientInputTest, WithoutRoomForRepliesItIsThrottled) {
  has_room = false;
  take("PING\r\n");
  EXPECT_TRUE(input.is_throttled() && input.waiting() == nullptr);
  EXPECT_FALSE(input.is_full());
  take(std::string(64 * 1024, 'x'));
  EXPECT_TRUE(input.is_full());
  has_room = true;
  closes = true;
  input.go_on(TimePoint{});
  EXPECT_THAT(taken(), IsEmpty()) << "a client that is being closed is not heard";
  EXPECT_EQ(input.bytes(), "");
}

TEST_F(ClientInputTest, WhatIsHeldIsKept) {
  input.hold(true);
  take("PING\r\n");
  EXPECT_THAT(taken(), IsEmpty());
  EXPECT_EQ(input.bytes(), "PING\r\n");
  input.hold(false);
  input.go_on(TimePoint{});
  EXPECT_THAT(taken(), ElementsAre("PING last alone"));
}

TEST_F(ClientInputTest, AnotherRequestMayWaitInstead) {
  const std::string wire = "*1\r\n$4\r\nPING\r\n";
  resp::RequestParser parser;
  ASSERT_EQ(parser.parse(std::string_view(wire)), resp::ParseStatus::kRequest);
  auto again = std::make_unique<Request>(parser.args(), wire);
  again->keep();
  input.wait_with(std::move(again));
  EXPECT_EQ(input.awaited(), Awaited::kPause);
  take("ECHO\r\n");
  EXPECT_THAT(taken(), IsEmpty());
  input.go_on(TimePoint{});
  EXPECT_THAT(taken(), ElementsAre("PING", "ECHO last alone"));
}

TEST_F(ClientInputTest, ABigRequestIsPassedOnAsItComes) {
  take("*2\r\n$3\r\nSET\r\n$1000\r\n");
  EXPECT_THAT(taken(), ElementsAre("begins SET", "20 bytes"));
  EXPECT_TRUE(input.oversized().is_active());
  take(std::string(1000, 'x'));
  take("\r\nPING\r\n");
  EXPECT_THAT(taken(), ElementsAre("1000 bytes", "2 bytes", "PING last"));
  EXPECT_FALSE(input.oversized().is_active());
}

TEST_F(ClientInputTest, ABigRequestBeforeTheLoginIsRefused) {
  resp::RequestLimits limits;
  input.set_limits(limits, true);
  take("*2\r\n$3\r\nSET\r\n$1000000\r\n");
  EXPECT_THAT(taken(), ElementsAre(testing::StartsWith("-ERR Protocol error: unauthenticated")));
}

TEST_F(ClientInputTest, WhatIsNoRequestIsRefused) {
  take("*x\r\n");
  EXPECT_THAT(taken(), ElementsAre("-ERR Protocol error: invalid multibulk length"));
  closes = false;
  ClientInput other(*this);
  other.take("\x16\x03\x01", TimePoint{});
  EXPECT_THAT(taken(), ElementsAre("-tls"));
}

TEST_F(ClientInputTest, AClosedClientKeepsNothing) {
  has_left = true;
  take("PING\r\nEC");
  EXPECT_EQ(input.bytes(), "");
}

}  // namespace
}  // namespace heatsink::proxy
