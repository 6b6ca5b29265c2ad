// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/expected_replies.h"

#include <gtest/gtest.h>

#include "heatsink/session/testing/session_parts.h"

namespace heatsink::proxy {
namespace {

class ExpectedRepliesTest : public SessionPartsTest {
 protected:
  ExpectedRepliesTest() { start_parts(); }
  ExpectedReply expect(std::initializer_list<std::string_view> words) {
    Request& asked = known(words);
    replies.expect(asked, *session_parts, 0);
    return asked.expected;
  }
  // With the facts that know the number of the command.
  Request& known(std::initializer_list<std::string_view> words) {
    Request& asked = request(words);
    asked.command = commands.find(asked.args());
    asked.facts = &commands.facts(*asked.command);
    return asked;
  }
  void has_been(std::string_view key, std::uint64_t bytes) {
    big_replies.record(BigReplies::hash(commands.get_sized_as(), hash(key)), bytes);
  }

  ExpectedReplies replies;
  const Upstream* shared_connection = nullptr;
};

TEST_F(ExpectedRepliesTest, ANewClientMayAskForLittleAtOnce) {
  EXPECT_EQ(expect({"GET", "a"}).known, 0U);
  EXPECT_EQ(expect({"GET", "a"}).counted, 1024U * 1024);
  EXPECT_EQ(expect({"SET", "a", "1"}).counted, 8U * 1024);
}

TEST_F(ExpectedRepliesTest, EarlierRepliesOfTheClientCount) {
  replies.record(true, 20'000);
  EXPECT_EQ(expect({"GET", "a"}).known, 20'000U);
  EXPECT_EQ(expect({"SET", "a", "1"}).known, 0U) << "those to reads say nothing about writes";
}

TEST_F(ExpectedRepliesTest, EarlierRepliesForTheKeyCount) {
  has_been("big", 300'000);
  has_been("bigger", 500'000);
  EXPECT_EQ(expect({"GET", "big"}).known, 300'000U);
  EXPECT_EQ(expect({"GET", "other"}).known, 0U);
  EXPECT_EQ(expect({"MGET", "big", "other", "bigger"}).known, 800'000U);
}

TEST_F(ExpectedRepliesTest, ALongReplyGoesElsewhereIfOthersAreOwed) {
  constexpr std::uint64_t kLong = 1'000'000;
  const auto none = [this] { return shared_connection; };
  has_been("big", 300'000);
  Request& short_one = known({"GET", "a"});
  replies.expect(short_one, *session_parts, 0);
  EXPECT_FALSE(ExpectedReplies::is_too_long_to_share(short_one, kLong, none));
  Request& long_one = known({"GET", "big"});
  replies.expect(long_one, *session_parts, 0);
  EXPECT_TRUE(ExpectedReplies::is_too_long_to_share(long_one, kLong, none)) << "others follow";
  long_one.is_last = true;
  EXPECT_FALSE(ExpectedReplies::is_too_long_to_share(long_one, kLong, none));
  EXPECT_TRUE(ExpectedReplies::is_too_long_to_share(long_one, 200'000, none));
}

TEST_F(ExpectedRepliesTest, WhatIsOwedIsLimited) {
  replies.sent(ExpectedReplies::kOwedMax - 1);
  EXPECT_FALSE(replies.owes_too_much());
  replies.sent(1);
  EXPECT_TRUE(replies.owes_too_much());
  replies.ended(2);
  EXPECT_FALSE(replies.owes_too_much());
}

}  // namespace
}  // namespace heatsink::proxy
