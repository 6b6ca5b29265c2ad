// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/verdict_inbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace heatsink::copies {
namespace {

VerdictInbox::News news_of(std::size_t messages, bool is_list = false) {
  return std::make_shared<const VerdictNews>(
      VerdictNews{is_list, std::vector<std::string>(messages, "m")});
}

TEST(VerdictInbox, AWorkerIsToldOnceAndTakesAllInOrder) {
  VerdictInbox inbox(2);
  EXPECT_TRUE(inbox.put(1, news_of(1)));
  EXPECT_FALSE(inbox.put(1, news_of(2))) << "it has not come yet";
  EXPECT_TRUE(inbox.take(0).news.empty());
  const VerdictInbox::Content content = inbox.take(1);
  ASSERT_EQ(content.news.size(), 2U);
  EXPECT_EQ(content.news[0]->wires.size(), 1U);
  EXPECT_FALSE(content.has_gap);
  EXPECT_TRUE(inbox.put(1, news_of(1)));
}

TEST(VerdictInbox, AWorkerThatTakesNothingLosesTheNewsAndLearnsIt) {
  VerdictInbox inbox(1);
  for (std::size_t i = 0; i < VerdictInbox::kWaitingMax; ++i)
    static_cast<void>(inbox.put(0, news_of(1)));
  static_cast<void>(inbox.put(0, news_of(1)));
  static_cast<void>(inbox.put(0, news_of(1)));
  VerdictInbox::Content content = inbox.take(0);
  EXPECT_TRUE(content.has_gap);
  EXPECT_TRUE(content.news.empty());
  static_cast<void>(inbox.put(0, news_of(1)));
  content = inbox.take(0);
  EXPECT_FALSE(content.has_gap);
  EXPECT_EQ(content.news.size(), 1U);
}

TEST(VerdictInbox, BehindAGapAListAndWhatFollowsItAreKept) {
  VerdictInbox inbox(1);
  for (std::size_t i = 0; i <= VerdictInbox::kWaitingMax; ++i)
    static_cast<void>(inbox.put(0, news_of(1)));
  static_cast<void>(inbox.put(0, news_of(1, true)));
  static_cast<void>(inbox.put(0, news_of(1)));
  const VerdictInbox::Content content = inbox.take(0);
  EXPECT_TRUE(content.has_gap);
  EXPECT_FALSE(content.lost_list);
  ASSERT_EQ(content.news.size(), 2U);
  EXPECT_TRUE(content.news[0]->is_list);
  static_cast<void>(inbox.put(0, news_of(1, true)));
  for (std::size_t i = 0; i <= VerdictInbox::kWaitingMax; ++i)
    static_cast<void>(inbox.put(0, news_of(1)));
  EXPECT_TRUE(inbox.take(0).lost_list);
}

}  // namespace
}  // namespace heatsink::copies
