// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heatsink::advice {
namespace {

using testing::HasSubstr;

const Remedy& of(const Advice& advice, Relief relief) {
  return *std::find_if(advice.remedies.begin(), advice.remedies.end(),
                       [&](const Remedy& each) { return each.relief == relief; });
}

TEST(Advise, AReadKeyIsToBeCopied) {
  const Advice advice =
      advise({.reads_rate = 20'000, .writes_rate = 2, .node_rate = 60'000, .value = Bytes{512}});
  EXPECT_EQ(advice.headline,
            "local copies: takes off 99.9 % of its load on the server (33.3 % of the node's "
            "requests); 842 B of memory; a write by others is seen when the server tells, after 1s "
            "at most");
  EXPECT_EQ(advice.remedies.front().relief, Relief::kCoherentCopies);
}

TEST(Advise, CopiesThatAreNeverWrongGoFirstWhenTheyTakeOffNearlyAsMuch) {
  const Advice often = advise({.reads_rate = 1000, .writes_rate = 120});
  EXPECT_EQ(often.remedies.front().relief, Relief::kAgingCopies) << often.headline;
  const Advice seldom = advise({.reads_rate = 1000, .writes_rate = 1});
  EXPECT_EQ(seldom.remedies.front().relief, Relief::kCoherentCopies) << seldom.headline;
  EXPECT_LT(seldom.remedies.front().effect.key_removed,
            of(seldom, Relief::kAgingCopies).effect.key_removed);
}

TEST(Advise, NoneOfTheseForAKeyThatIsOnlyWritten) {
  const Advice advice = advise({.reads_rate = 10, .writes_rate = 2000, .masters = 3});
  EXPECT_THAT(advice.headline, HasSubstr("write-hot: 99.5 % of its accesses are writes"));
  EXPECT_THAT(advice.headline, HasSubstr("none of these"));
  EXPECT_TRUE(std::none_of(advice.remedies.begin(), advice.remedies.end(),
                           [](const Remedy& each) { return each.helps; }));
  EXPECT_THAT(of(advice, Relief::kSplit).text, HasSubstr("each write becomes 3"));
}

TEST(Advise, OnlyALimitForAKeyThatIsWrittenTooOften) {
  const Advice advice = advise({.reads_rate = 10, .writes_rate = 6000});
  EXPECT_EQ(advice.remedies.front().relief, Relief::kLimit);
  EXPECT_THAT(advice.headline, HasSubstr("only a limit helps"));
  EXPECT_THAT(advice.headline, HasSubstr("3010 requests a second are refused"));
}

TEST(Advise, ALimitIsNeverFirstWhereSomethingElseHelps) {
  const Advice advice = advise({.reads_rate = 1'000'000, .writes_rate = 400'000, .replicas = 1});
  EXPECT_NE(advice.remedies.front().relief, Relief::kLimit) << advice.headline;
  EXPECT_TRUE(of(advice, Relief::kLimit).helps);
}

TEST(Advise, SaysWhyThereCanBeNoCopies) {
  const Advice big = advise({.reads_rate = 5000, .value = mebibytes(1)});
  EXPECT_EQ(of(big, Relief::kCoherentCopies).text,
            "its value has 1024.0 KiB, more than cache.maximum-value-bytes (256kb): make it "
            "smaller");
  const Advice odd = advise({.reads_rate = 5000, .reads_can_be_local = false});
  EXPECT_THAT(of(odd, Relief::kCoherentCopies).text, HasSubstr("not among those served"));
  EXPECT_TRUE(std::none_of(odd.remedies.begin(), odd.remedies.end(),
                           [](const Remedy& each) { return each.relief == Relief::kAgingCopies; }));
}

TEST(Advise, SaysWhyNodesDoNotHelp) {
  const Advice advice = advise({.reads_rate = 5000});
  EXPECT_THAT(of(advice, Relief::kSplit).text, HasSubstr("there is one master"));
  EXPECT_THAT(of(advice, Relief::kReplicaReads).text, HasSubstr("no replica"));
  const Advice unknown = advise({.reads_rate = 5000, .replicas = {}});
  EXPECT_THAT(of(unknown, Relief::kReplicaReads).text, HasSubstr("not known here"));
}

TEST(Advise, AKeyWithoutTrafficNeedsNothing) {
  EXPECT_EQ(advise({}).headline, "it has no traffic");
  EXPECT_TRUE(advise({}).remedies.empty());
}

}  // namespace
}  // namespace heatsink::advice
