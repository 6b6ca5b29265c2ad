// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/hot_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::proxy {
namespace {

using copies::VerdictInbox;
using testing::ElementsAre;
using testing::IsEmpty;

class Reader final : public HotChannel::Subscriber {
 public:
  void hear(std::span<const std::string> wires) override {
    heard.insert(heard.end(), wires.begin(), wires.end());
    if (then) then();
  }
  std::vector<std::string> heard;
  std::function<void()> then;
};

class HotChannelTest : public testing::Test, public HotChannel::Source {
 protected:
  void say(const std::string& text, bool is_list = false) {
    if (inbox_.put(
            0, std::make_shared<const copies::VerdictNews>(copies::VerdictNews{is_list, {text}})))
      channel_.has_news();
  }
  void answer_list(const std::string& text = "list") {
    ASSERT_GT(asked_, 0);
    --asked_;
    say(text, true);
  }

  int asked_ = 0, ends_ = 0, later_ = 0;
  copies::Counters counters_;
  std::atomic<std::uint64_t> subscribers_{0};
  VerdictInbox inbox_{1};
  HotChannel channel_{*this, counters_, subscribers_};

 private:
  void ask_verdicts() override { ++asked_; }
  void end_verdicts() override { ++ends_; }
  VerdictInbox::Content take_verdicts() override { return inbox_.take(0); }
  void deliver_verdicts_later() override { ++later_; }
};

TEST_F(HotChannelTest, ASubscriberGetsTheListFirst) {
  Reader a;
  EXPECT_NE(channel_.join(a), 0U);
  EXPECT_EQ(subscribers_.load(), 1U);
  say("before");
  EXPECT_THAT(a.heard, IsEmpty()) << "it is part of the list";
  answer_list();
  say("after");
  EXPECT_THAT(a.heard, ElementsAre("list", "after"));
  EXPECT_EQ(counters_.read(copies::Count::kVerdictMessages), 2U);
}

TEST_F(HotChannelTest, OneListServesAllWhoWaitAndNoOther) {
  Reader a, b, c;
  channel_.join(a);
  channel_.join(b);
  EXPECT_EQ(asked_, 1);
  answer_list();
  channel_.join(c);
  answer_list("list of c");
  EXPECT_THAT(a.heard, ElementsAre("list"));
  EXPECT_THAT(b.heard, ElementsAre("list"));
  EXPECT_THAT(c.heard, ElementsAre("list of c"));
}

TEST_F(HotChannelTest, WhoSubscribesAgainGetsTheListAgain) {
  Reader a;
  const std::uint64_t number = channel_.join(a);
  answer_list();
  channel_.renew(number);
  answer_list("again");
  EXPECT_THAT(a.heard, ElementsAre("list", "again"));
  channel_.renew(number + 1);
  EXPECT_EQ(asked_, 0);
}

TEST_F(HotChannelTest, BehindAGapAllGetAListAgain) {
  Reader a;
  channel_.join(a);
  answer_list();
  for (std::size_t i = 0; i < VerdictInbox::kWaitingMax; ++i)
    static_cast<void>(inbox_.put(
        0, std::make_shared<const copies::VerdictNews>(copies::VerdictNews{false, {"lost"}})));
  say("one too many");
  channel_.has_news();
  EXPECT_THAT(a.heard, ElementsAre("list"));
  answer_list("afresh");
  say("after");
  EXPECT_THAT(a.heard, ElementsAre("list", "afresh", "after"));
}

TEST_F(HotChannelTest, ManySubscribersAreServedInSlices) {
  std::vector<Reader> readers(HotChannel::kPerTurn + 10);
  for (Reader& each : readers) channel_.join(each);
  answer_list();
  EXPECT_EQ(later_, 1);
  EXPECT_THAT(readers.front().heard, ElementsAre("list"));
  EXPECT_THAT(readers.back().heard, IsEmpty());
  say("next");
  EXPECT_EQ(later_, 1) << "the turn that is due takes it";
  channel_.deliver();
  for (int i = 0; i < 3; ++i) channel_.deliver();
  for (const Reader& each : readers) EXPECT_THAT(each.heard, ElementsAre("list", "next"));
}

TEST_F(HotChannelTest, LongNewsIsServedInSlicesOfBytes) {
  Reader a, b;
  channel_.join(a);
  channel_.join(b);
  answer_list(std::string(HotChannel::kBytesPerTurn, 'x'));
  EXPECT_EQ(a.heard.size(), 1U);
  EXPECT_THAT(b.heard, IsEmpty());
  channel_.deliver();
  EXPECT_EQ(b.heard.size(), 1U);
}

TEST_F(HotChannelTest, ASubscriberMayLeaveWhileItHears) {
  Reader a, b;
  const std::uint64_t number = channel_.join(a);
  channel_.join(b);
  a.then = [&] { channel_.leave(number); };
  answer_list();
  say("next");
  EXPECT_THAT(a.heard, ElementsAre("list"));
  EXPECT_THAT(b.heard, ElementsAre("list", "next"));
}

TEST_F(HotChannelTest, TheLastOneEndsIt) {
  Reader a, b;
  const std::uint64_t first = channel_.join(a);
  const std::uint64_t second = channel_.join(b);
  channel_.leave(first);
  EXPECT_EQ(ends_, 0);
  answer_list();
  channel_.leave(second);
  channel_.leave(second);
  EXPECT_EQ(ends_, 1);
  EXPECT_EQ(subscribers_.load(), 0U);
  say("for no one");
  EXPECT_EQ(ends_, 1);
  EXPECT_THAT(b.heard, ElementsAre("list"));
  channel_.join(a);
  EXPECT_EQ(asked_, 1) << "a list is asked for anew";
}

// Else the list would reach the next subscriber, and changes between it and the next list would
// not.
TEST_F(HotChannelTest, ItDoesNotEndWhileAListIsOnItsWay) {
  Reader a, b;
  channel_.leave(channel_.join(a));
  EXPECT_EQ(ends_, 0);
  channel_.join(b);
  EXPECT_EQ(asked_, 1);
  answer_list();
  EXPECT_THAT(b.heard, ElementsAre("list"));
  channel_.leave(2);
  EXPECT_EQ(ends_, 1);
  channel_.leave(channel_.join(a));
  answer_list();
  EXPECT_EQ(ends_, 2) << "as soon as it has come";
}

TEST_F(HotChannelTest, ALostListIsAskedForAgain) {
  Reader a;
  channel_.join(a);
  static_cast<void>(inbox_.put(
      0, std::make_shared<const copies::VerdictNews>(copies::VerdictNews{true, {"lost"}})));
  for (std::size_t i = 0; i <= VerdictInbox::kWaitingMax; ++i)
    static_cast<void>(inbox_.put(
        0, std::make_shared<const copies::VerdictNews>(copies::VerdictNews{false, {"lost"}})));
  channel_.has_news();
  EXPECT_EQ(asked_, 2);
  answer_list("found");
  EXPECT_THAT(a.heard, ElementsAre("found"));
}

}  // namespace
}  // namespace heatsink::proxy
