// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/sent_requests.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace heatsink::proxy {
namespace {

using std::chrono::seconds;
using Keeping = SentRequests::Keeping;

constexpr TimePoint kSentAt{std::chrono::hours(1)};
constexpr Nanos kLimit = seconds(10);

Pending expecting(std::uint32_t bytes) {
  Pending pending;
  pending.expected = bytes;
  return pending;
}

TEST(SentRequests, ASharedConnectionKeepsARequestUntilItsReply) {
  SentRequests requests(Keeping::kUntilReply);
  requests.add("one", {}, kSentAt);
  requests.add("two", {}, kSentAt);
  EXPECT_EQ(requests.unsent_bytes(), "onetwo");
  EXPECT_FALSE(requests.is_front_sent());
  requests.sent(4);
  EXPECT_EQ(requests.unsent_bytes(), "wo");
  EXPECT_TRUE(requests.is_front_sent());
  EXPECT_EQ(requests.front_bytes(), "one");
  requests.drop_front_bytes();
  EXPECT_EQ(requests.front_bytes(), "");
  static_cast<void>(requests.take_front());
  EXPECT_FALSE(requests.is_front_sent()) << "half of it";
  EXPECT_EQ(requests.front_bytes(), "two");
  EXPECT_EQ(requests.unsent_bytes(), "wo");
}

TEST(SentRequests, APrivateConnectionKeepsNothingThatIsSent) {
  SentRequests requests(Keeping::kUntilSent);
  requests.add("one", {}, kSentAt);
  requests.add_more("more");
  requests.sent(5);
  EXPECT_EQ(requests.unsent_bytes(), "re");
  EXPECT_TRUE(requests.is_front_sent());
  EXPECT_EQ(requests.front_bytes(), "");
  EXPECT_FALSE(requests.has_sent_all());
  requests.sent(2);
  EXPECT_TRUE(requests.has_sent_all());
}

TEST(SentRequests, APasswordIsNotKept) {
  SentRequests requests(Keeping::kUntilReply);
  requests.output().append("AUTH secret");
  requests.add_login();
  requests.login_sent(11);
  EXPECT_TRUE(requests.output().empty());
  EXPECT_EQ(requests.front().kind, PendingKind::kHandshake);
  EXPECT_TRUE(requests.is_front_sent());
}

TEST(SentRequests, CountsWhatIsOwed) {
  SentRequests requests(Keeping::kUntilReply);
  requests.add("a", expecting(100), kSentAt);
  requests.add("b", expecting(20), kSentAt);
  requests.add("c", expecting(3), kSentAt);
  EXPECT_EQ(requests.owed(), 123U);
  static_cast<void>(requests.take_front());
  EXPECT_EQ(requests.owed(), 23U);
  requests.drop_front();
  EXPECT_EQ(requests.owed(), 3U);
  requests.front().expected = 0;  // as of a request that was taken elsewhere
  requests.end_taken_front(3);
  EXPECT_EQ(requests.owed(), 0U);
  EXPECT_TRUE(requests.empty());
}

TEST(SentRequests, CountsTheCommandsSinceTheLastLook) {
  SentRequests requests(Keeping::kUntilReply);
  requests.add_login();
  requests.add("a", {}, kSentAt);
  requests.add_raw("b");
  EXPECT_EQ(requests.take_commands(), 3U);
  EXPECT_EQ(requests.take_commands(), 0U);
  requests.expect({}, kSentAt);
  EXPECT_EQ(requests.take_commands(), 0U) << "another process has sent it";
}

TEST(SentRequests, ARawRequestWaitsUntilAllBeforeItAreAnswered) {
  SentRequests requests(Keeping::kUntilSent);
  requests.add("one", {}, kSentAt);
  requests.sent(3);
  requests.add_raw("SYNC");
  EXPECT_EQ(requests.unsent(), 0U);
  EXPECT_FALSE(requests.has_sent_all());
  EXPECT_FALSE(requests.release_raw());
  static_cast<void>(requests.take_front());
  EXPECT_TRUE(requests.release_raw());
  EXPECT_EQ(requests.unsent_bytes(), "SYNC");
}

TEST(SentRequests, ARawRequestBehindNoOtherIsSentAtOnce) {
  SentRequests requests(Keeping::kUntilSent);
  EXPECT_FALSE(requests.release_raw());
  requests.add_raw("SYNC");
  EXPECT_EQ(requests.unsent_bytes(), "SYNC");
}

TEST(SentRequests, AServerThatMakesNoProgressIsOverdue) {
  SentRequests requests(Keeping::kUntilReply);
  EXPECT_EQ(requests.overdue(kSentAt + 2 * kLimit, kLimit), "") << "it owes nothing";
  requests.add("a", {}, kSentAt);
  EXPECT_EQ(requests.overdue(kSentAt + kLimit, kLimit), "");
  EXPECT_EQ(requests.overdue(kSentAt + kLimit + Nanos(1), kLimit),
            "the server did not answer for 10s");
  requests.progress(kSentAt + kLimit);
  EXPECT_EQ(requests.overdue(kSentAt + kLimit + Nanos(1), kLimit), "");
}

TEST(SentRequests, AReplyThatTricklesIsOverdueInTheEnd) {
  SentRequests requests(Keeping::kUntilReply);
  requests.expect({}, kSentAt);
  const TimePoint late = kSentAt + kLimit * ReplyTimeouts::kOldestFactor + Nanos(1);
  requests.progress(late);
  EXPECT_EQ(requests.overdue(late, kLimit), "a reply did not end within 100s");
  EXPECT_EQ(requests.owes_since(late), late - kSentAt);
}

TEST(SentRequests, GivesBackItsMemoryOnlyWhenNothingIsInFlight) {
  SentRequests requests(Keeping::kUntilReply);
  requests.add("one", {}, kSentAt);
  requests.shrink();
  EXPECT_GT(requests.memory_bytes(), 0U);
  EXPECT_EQ(requests.front_bytes(), "one");
  requests.sent(3);
  requests.drop_front_bytes();
  static_cast<void>(requests.take_front());
  requests.shrink();
  EXPECT_EQ(requests.memory_bytes(), 0U);
}

}  // namespace
}  // namespace heatsink::proxy
