// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_outbox.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "heatsink/distributed/statistic_form.h"
#include "heatsink/distributed/summary_for_test.h"

namespace heatsink::distributed {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{std::chrono::hours(1000)};

TEST(StatisticOutbox, GivesASumOfWhatIsNew) {
  StatisticOutbox outbox(10s);
  outbox.add(2, summary_of({1}), kStart);
  outbox.add(2, summary_of({4}), kStart);
  const auto parts = outbox.due(kStart);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].series, 2U);
  EXPECT_EQ(parts[0].sequence, 1U);
  EXPECT_EQ(parts[0].bytes, encode_part(summary_of({1, 4})));
  outbox.delivered(2, 1);
  EXPECT_TRUE(outbox.due(kStart).empty());
  EXPECT_TRUE(outbox.is_empty());
  EXPECT_EQ(outbox.counts().delivered, 2U);
}

TEST(StatisticOutbox, OnePartAtATime) {
  StatisticOutbox outbox(10s);
  outbox.add(0, summary_of({1}), kStart);
  ASSERT_EQ(outbox.due(kStart).size(), 1U);
  outbox.add(0, summary_of({2}), kStart);
  EXPECT_TRUE(outbox.due(kStart).empty());
  outbox.delivered(0, 1);
  const auto parts = outbox.due(kStart);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].sequence, 2U);
  EXPECT_EQ(parts[0].bytes, encode_part(summary_of({2})));
}

TEST(StatisticOutbox, WhatIsSentAgainIsTheSame) {
  StatisticOutbox outbox(10s);
  outbox.add(0, summary_of({1}), kStart);
  const auto first = outbox.due(kStart);
  outbox.add(0, summary_of({2}), kStart);
  outbox.failed(0, 1, true);
  const auto again = outbox.due(kStart + 1s);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].sequence, first[0].sequence);
  EXPECT_EQ(again[0].bytes, first[0].bytes);
  EXPECT_EQ(outbox.counts().resent, 1U);
}

TEST(StatisticOutbox, WhatIsTooOldIsDroppedAndCounted) {
  StatisticOutbox outbox(10s);
  outbox.add(0, summary_of({1, 1}), kStart);
  ASSERT_EQ(outbox.due(kStart).size(), 1U);
  outbox.add(0, summary_of({2, 2, 2}), kStart + 1s);
  outbox.failed(0, 1, false);
  EXPECT_EQ(outbox.due(kStart + 10s).size(), 1U);
  outbox.failed(0, 1, false);
  // The part is delivered, and later numbers become the next part.
  const auto next = outbox.due(kStart + 10s + 1ms);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].sequence, 2U);
  EXPECT_EQ(outbox.counts().dropped, 2U);
  outbox.add(0, summary_of({3}), kStart + 2s);
  outbox.failed(0, 2, true);
  EXPECT_TRUE(outbox.due(kStart + 60s).empty());
  EXPECT_EQ(outbox.counts().dropped, 3U);
  EXPECT_EQ(outbox.counts().uncertain, 3U);
  EXPECT_TRUE(outbox.is_empty());
}

TEST(StatisticOutbox, WhatIsOnItsWayIsNotDropped) {
  StatisticOutbox outbox(10s);
  outbox.add(0, summary_of({1}), kStart);
  ASSERT_EQ(outbox.due(kStart).size(), 1U);
  EXPECT_TRUE(outbox.due(kStart + 60s).empty());
  outbox.delivered(0, 1);
  EXPECT_EQ(outbox.counts().delivered, 1U);
}

// A server that loses requests and replies: whatever happens, it counts each number once, or the
// outbox tells it as dropped or uncertain.
RC_GTEST_PROP(StatisticOutbox, CountsOnce, ()) {
  StatisticOutbox outbox(5s);
  std::map<std::uint32_t, std::uint64_t> last;
  std::uint64_t added = 0, counted = 0;
  TimePoint now = kStart;
  const auto serve = [&](const StatisticOutbox::Part& part, bool arrives, bool is_answered) {
    if (arrives && part.sequence > last[part.series]) {
      last[part.series] = part.sequence;
      counted += decode_slot("\x01" + part.bytes)->summary.count;
    }
    if (arrives && is_answered)
      outbox.delivered(part.series, part.sequence);
    else
      outbox.failed(part.series, part.sequence, true);
  };
  for (int i = 0; i < 100; ++i) {
    const auto series = *rc::gen::inRange<std::uint32_t>(0, 3);
    outbox.add(series, summary_of({i}), now);
    ++added;
    now += Millis(*rc::gen::inRange(0, 1000));
    for (const auto& part : outbox.due(now))
      serve(part, *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>());
  }
  while (!outbox.is_empty())
    for (const auto& part : outbox.due(now)) serve(part, true, true);
  const auto& counts = outbox.counts();
  RC_ASSERT(counts.delivered + counts.dropped + counts.uncertain == added);
  RC_ASSERT(counted >= counts.delivered);
  RC_ASSERT(counted <= counts.delivered + counts.uncertain);
}

}  // namespace
}  // namespace heatsink::distributed
