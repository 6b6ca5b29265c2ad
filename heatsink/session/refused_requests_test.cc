// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/refused_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/redis/upstream_address.h"
#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RefusedRequestsTest : public ReliefTest, public RefusedRequests::Client {
 protected:
  RefusedRequestsTest() {
    start();
    refused.emplace(*parts, *this);
  }
  // A server has refused the command that waits, or EXEC.
  bool blocking_refused(std::string_view line) {
    return takes_back(BlockedCommand::of(BlockedCommand::Asked::kCommand), line);
  }
  bool exec_refused(std::string_view line) {
    return takes_back(Transaction::of(Transaction::Asked::kExec), line);
  }
  bool takes_back(PartRequest of, std::string_view line) {
    Pending pending;
    pending.of = of;
    return refused->takes_back(pending, line);
  }
  std::vector<std::string> take() { return std::exchange(events, {}); }

  std::optional<RefusedRequests> refused;
  redis::UpstreamAddress node{net::parse_upstream_url("redis://127.0.0.1:2").value()};
  bool closes = false;
  std::string wire = "*1\r\n$4\r\nEXEC\r\n", if_refused, if_moved;
  std::unique_ptr<Request> waiting;
  std::vector<std::string> events;

 private:
  bool is_closing() const override { return closes; }
  std::string_view decisive(const Pending& /*pending*/, std::string_view line) const override {
    return line;
  }
  std::string answer_to_refused(const Pending& /*pending*/,
                                std::string_view /*line*/) const override {
    return if_refused;
  }
  std::string answer_to_moved(const Pending& /*pending*/) const override { return if_moved; }
  std::string wire_to_repeat(const Pending& /*pending*/) override { return wire; }
  redis::UpstreamAddress* node_named_by(const topology::Redirect& /*redirect*/) override {
    return &node;
  }
  void undo_sending(Pending& /*pending*/) override { events.emplace_back("undone"); }
  void answer_instead(Pending& /*pending*/, std::string_view reply) override {
    events.push_back("gets " + std::string(reply));
  }
  void wait_with(std::unique_ptr<Request> request) override { waiting = std::move(request); }
  void look_at_end_of_turn() override { events.emplace_back("at once"); }
  void look_after(Nanos pause) override {
    events.push_back("after " + std::to_string(pause / Millis(1)) + " ms");
  }
};

TEST_F(RefusedRequestsTest, ARequestGoesWhereItsSlotHasMoved) {
  EXPECT_TRUE(exec_refused("MOVED 7 127.0.0.1:2"));
  EXPECT_THAT(take(), ElementsAre("undone", "at once"));
  ASSERT_NE(waiting, nullptr);
  EXPECT_THAT(waiting->args(), ElementsAre("EXEC"));
  EXPECT_EQ(waiting->waited_for().redirected_to, &node);
  EXPECT_FALSE(waiting->waited_for().asking);
  EXPECT_EQ(count(copies::Count::kRedirects), 1U);
  EXPECT_FALSE(shared->cluster.has_moves(now));
}

TEST_F(RefusedRequestsTest, AskIsFollowedOnce) {
  EXPECT_TRUE(exec_refused("ASK 7 127.0.0.1:2"));
  EXPECT_TRUE(waiting->waited_for().asking);
  EXPECT_TRUE(shared->cluster.has_moves(now));
}

TEST_F(RefusedRequestsTest, AnErrorThatNamesNoNodeIsFollowedByAPause) {
  EXPECT_TRUE(exec_refused("TRYAGAIN Multiple keys request during rehashing of slot"));
  EXPECT_THAT(take(), ElementsAre("undone", "after 5 ms"));
  EXPECT_EQ(waiting->waited_for().redirected_to, nullptr);
}

TEST_F(RefusedRequestsTest, NodesThatNameEachOtherAreAskedMoreSlowly) {
  for (int i = 0; i < 4; ++i) exec_refused("MOVED 7 127.0.0.1:2");
  EXPECT_THAT(take(), testing::Contains("at once").Times(4));
  exec_refused("MOVED 7 127.0.0.1:2");
  EXPECT_THAT(take(), ElementsAre("undone", "after 25 ms"));
  for (int i = 5; i < 200; ++i) EXPECT_TRUE(exec_refused("MOVED 7 127.0.0.1:2"));
  EXPECT_EQ(take().back(), "after 50 ms");
  EXPECT_FALSE(exec_refused("MOVED 7 127.0.0.1:2"));
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(RefusedRequestsTest, AReplyEndsTheCount) {
  for (int i = 0; i < 200; ++i) exec_refused("MOVED 7 127.0.0.1:2");
  refused->answered();
  take();
  EXPECT_TRUE(exec_refused("MOVED 7 127.0.0.1:2"));
  EXPECT_THAT(take(), ElementsAre("undone", "at once"));
}

TEST_F(RefusedRequestsTest, AWaitThatTheServerHasEndedGoesOn) {
  EXPECT_TRUE(
      blocking_refused("UNBLOCKED force unblock from blocking operation, instance state changed "
                       "(master -> replica?)"));
  EXPECT_THAT(take(), SizeIs(2));
  EXPECT_FALSE(blocking_refused("UNBLOCKED client unblocked via CLIENT UNBLOCK"));
  EXPECT_FALSE(exec_refused("UNBLOCKED force unblock")) << "EXEC does not wait";
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(RefusedRequestsTest, ATransactionMayEndInstead) {
  if_refused = "-EXECABORT";
  EXPECT_TRUE(exec_refused("EXECABORT Transaction discarded"));
  EXPECT_THAT(take(), ElementsAre("gets -EXECABORT"));
  if_moved = "*-1";
  EXPECT_TRUE(exec_refused("MOVED 7 127.0.0.1:2"));
  EXPECT_THAT(take(), ElementsAre("gets *-1"));
  EXPECT_EQ(waiting, nullptr);
}

TEST_F(RefusedRequestsTest, OtherErrorsAreReplies) {
  EXPECT_FALSE(exec_refused("WRONGTYPE Operation against a key"));
  wire.clear();
  EXPECT_FALSE(exec_refused("MOVED 7 127.0.0.1:2")) << "its bytes are gone";
  wire = "*1\r\n$4\r\nEXEC\r\n";
  closes = true;
  EXPECT_FALSE(exec_refused("MOVED 7 127.0.0.1:2"));
  EXPECT_THAT(take(), IsEmpty());
}

}  // namespace
}  // namespace heatsink::proxy
