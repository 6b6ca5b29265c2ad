// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/repeated_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/session/testing/client_output_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The client is owed the replies 1 and 2.
class RepeatedReadsTest : public ClientOutputFixture, public RepeatedReads::Client {
 protected:
  RepeatedReadsTest() {
    start_output();
    output->expect();
    output->expect();
    reads.emplace(*output, *this);
  }
  void add(std::string_view request, ReplyQueue::Ticket ticket) {
    Pending pending;
    pending.ticket = ticket;
    reads->add(request, pending);
  }
  std::vector<std::string> take() { return std::exchange(done, {}); }

  std::optional<RepeatedReads> reads;
  bool is_busy = false, is_ready = true, closes = false, has_left = false;
  std::string error;  // of a connection
  std::vector<std::string> done;

 private:
  bool is_drained() const override { return !is_busy; }
  bool connect_for(std::string_view /*request*/, std::string& why) override {
    why = error;
    return why.empty();
  }
  bool is_connection_ready() override { return is_ready; }
  void send_again(std::string_view request, Pending&& pending) override {
    EXPECT_TRUE(pending.read_only && pending.of.part == SessionPart::kAgain);
    done.push_back("sends " + std::string(request) + " " + std::to_string(pending.ticket));
  }
  void all_repeated() override { done.emplace_back("all"); }
  bool closes_when_down() const override { return closes; }
  void close_when_flushed() override { done.emplace_back("closes"); }
  bool closed() const override { return has_left; }
};

TEST_F(RepeatedReadsTest, TheyAreSentOneAfterTheOther) {
  add("a", 1);
  add("b", 2);
  EXPECT_GT(reads->bytes(), sizeof(RepeatedReads));
  is_busy = true;
  reads->go_on();
  EXPECT_THAT(take(), IsEmpty()) << "other replies are owed";
  is_busy = false;
  reads->go_on();
  reads->go_on();
  EXPECT_THAT(take(), ElementsAre("sends a 1"));
  reads->answered();
  reads->go_on();
  EXPECT_THAT(take(), ElementsAre("sends b 2"));
  reads->answered();
  EXPECT_TRUE(reads->empty());
}

TEST_F(RepeatedReadsTest, TheyWaitForTheConnection) {
  is_ready = false;
  add("a", 1);
  reads->go_on();
  EXPECT_THAT(take(), IsEmpty());
  is_ready = true;
  reads->go_on();
  EXPECT_THAT(take(), ElementsAre("sends a 1"));
}

TEST_F(RepeatedReadsTest, EachWithoutAConnectionGetsItsError) {
  error = "all are in use";
  add("a", 1);
  add("b", 2);
  reads->go_on();
  EXPECT_THAT(take(), ElementsAre("all"));
  const std::string error_reply =
      "-ERR heatsink: a read that had to be sent again, on a private connection, failed: all are "
      "in use\r\n";
  EXPECT_EQ(flushed(), error_reply + error_reply);
}

TEST_F(RepeatedReadsTest, ALostConnectionMayEndTheClientsOwn) {
  add("a", 1);
  reads->failed("the connection was reset", true);
  closes = true;
  reads->go_on();
  EXPECT_THAT(take(), ElementsAre("closes"));
  closes = false;
  reads->go_on();
  EXPECT_THAT(take(), ElementsAre("all"));
  EXPECT_THAT(flushed(), HasSubstr("the connection was reset"));
}

TEST_F(RepeatedReadsTest, NothingIsSentToAClientThatHasLeft) {
  error = "all are in use";
  add("a", 1);
  has_left = true;
  reads->go_on();
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(RepeatedReadsTest, TheClientsRequestsGoOnAfterTheLast) {
  EXPECT_FALSE(reads->is_resume_due());
  add("a", 1);
  reads->resume_after();
  EXPECT_FALSE(reads->is_resume_due());
  reads->answered();
  EXPECT_TRUE(reads->is_resume_due());
  reads->resumed();
  EXPECT_FALSE(reads->is_resume_due());
}

}  // namespace
}  // namespace heatsink::proxy
