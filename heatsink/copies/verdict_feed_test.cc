// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/verdict_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VerdictFeedTest : public testing::Test {
 protected:
  static detect::Verdict verdict(const std::string& name, Temperature temperature) {
    detect::Verdict out;
    out.count.key = name;
    out.temperature = temperature;
    return out;
  }
  void change(const std::string& name, Temperature from, Temperature to) {
    const std::vector<detect::Change> changes{
        {detect::Change::Kind::kNotice, verdict(name, to), from}};
    feed_.note(changes, {at(0), {}});
  }
  void ask(std::size_t worker) {
    feed_.give_list(worker,
                    [this] {
                      ++lists_made_;
                      return present_;
                    },
                    {at(0), {}});
  }
  std::vector<std::string> take(std::size_t worker) {
    std::vector<std::string> out;
    for (const VerdictInbox::News& news : feed_.inbox().take(worker).news)
      out.insert(out.end(), news->wires.begin(), news->wires.end());
    return out;
  }

  NodeState shared_{{}, net::RedisUrl{}, 1};
  std::vector<std::size_t> told_;
  std::vector<detect::Verdict> present_{verdict("a", Temperature::kHot)};
  int lists_made_ = 0;
  VerdictFeed feed_{shared_, 2, [this](std::size_t worker) { told_.push_back(worker); }};
};

TEST_F(VerdictFeedTest, WithoutASubscriberNothingIsMade) {
  change("k", Temperature::kWarm, Temperature::kHot);
  EXPECT_THAT(take(0), IsEmpty());
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(VerdictFeedTest, AWorkerGetsTheListAndThenTheChanges) {
  ask(1);
  change("k", Temperature::kWarm, Temperature::kHot);
  change("k", Temperature::kHot, Temperature::kCold);
  EXPECT_THAT(told_, ElementsAre(1U));
  EXPECT_THAT(take(0), IsEmpty());
  EXPECT_THAT(take(1), ElementsAre(HasSubstr(R"("type":"list")"), HasSubstr(R"("state":"hot")"),
                                   HasSubstr(R"("state":"cold")")));
  feed_.end(1);
  change("k", Temperature::kCold, Temperature::kHot);
  EXPECT_THAT(take(1), IsEmpty());
}

TEST_F(VerdictFeedTest, AMessageIsAMessageOfTheChannel) {
  ask(0);
  const std::string wire = take(0).front();
  EXPECT_TRUE(wire.starts_with("*3\r\n$7\r\nmessage\r\n$16\r\n__heatsink__:hot\r\n$")) << wire;
  EXPECT_TRUE(wire.ends_with("}]}\r\n")) << wire;
}

TEST_F(VerdictFeedTest, ChangesOfKeysThatWereNeverHotAreLeftOut) {
  ask(0);
  take(0);
  change("k", Temperature::kCold, Temperature::kWarm);
  change("w", Temperature::kWarm, Temperature::kWriteHot);
  EXPECT_THAT(take(0), ElementsAre(HasSubstr(R"("state":"write-hot")")));
}

TEST_F(VerdictFeedTest, AListIsMadeOncePerJudgement) {
  ask(0);
  ask(1);
  ask(0);
  EXPECT_EQ(lists_made_, 1);
  feed_.judged();
  ask(0);
  EXPECT_EQ(lists_made_, 2);
  change("k", Temperature::kWarm, Temperature::kHot);
  ask(0);
  EXPECT_EQ(lists_made_, 3);
}

TEST_F(VerdictFeedTest, AListHasALimitAndSaysSo) {
  present_.assign(VerdictFeed::kListMax + 1, verdict("a", Temperature::kHot));
  ask(0);
  EXPECT_THAT(take(0), ElementsAre(HasSubstr(R"("complete":false)")));
}

TEST_F(VerdictFeedTest, OnlyHotKeysHaveCopies) {
  present_ = {verdict("w", Temperature::kWriteHot)};
  ask(0);
  EXPECT_THAT(take(0), ElementsAre(HasSubstr(R"("copies":false)")));
  change("k", Temperature::kWarm, Temperature::kHot);
  EXPECT_THAT(take(0), ElementsAre(HasSubstr(R"("copies":true)")));
  detect::Verdict cut = verdict("k", Temperature::kHot);
  cut.count.key_truncated = true;
  const std::vector<detect::Change> changes{
      {detect::Change::Kind::kPromote, cut, Temperature::kCold}};
  feed_.note(changes, {at(0), {}});
  EXPECT_THAT(take(0), ElementsAre(HasSubstr(R"("copies":false)")));
}

}  // namespace
}  // namespace heatsink::copies
