// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/drain.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

using Step = Drain::Step;

constexpr TimePoint kBegin{std::chrono::seconds(100)};
constexpr Nanos kLimit = std::chrono::seconds(10);

Step step_of(Stay why, Nanos after, bool only_subscribers = false, std::size_t rank = 0,
             std::size_t clients = 10) {
  return Drain(kBegin, kLimit, clients).step(why, rank, only_subscribers, kBegin + after);
}

TEST(Drain, ClosesAClientAtRestAtOnceAndWaitsForTheOthers) {
  EXPECT_EQ(step_of(Stay::kAtRest, Nanos(0)), Step::kClose);
  for (const Stay why : {Stay::kReplies, Stay::kTransaction, Stay::kWait, Stay::kClosing}) {
    EXPECT_EQ(step_of(why, Nanos(0)), Step::kFinish);
    EXPECT_EQ(step_of(why, kLimit - Nanos(1)), Step::kFinish);
  }
}

TEST(Drain, SpreadsClientsOverAQuarterOfTheLimitAtMost) {
  EXPECT_EQ(step_of(Stay::kAtRest, Millis(4), false, 5, 10), Step::kServe);
  EXPECT_EQ(step_of(Stay::kAtRest, Millis(5), false, 5, 10), Step::kClose);
  EXPECT_EQ(step_of(Stay::kAtRest, kLimit / 4 - Millis(1), false, 100'000, 100'000), Step::kServe);
  EXPECT_EQ(step_of(Stay::kAtRest, kLimit / 4, false, 100'000, 100'000), Step::kClose);
  // One that came later than the drain, when there was no client.
  EXPECT_EQ(step_of(Stay::kAtRest, Nanos(0), false, 7, 0), Step::kClose);
}

TEST(Drain, ClosesSubscribersLast) {
  EXPECT_EQ(step_of(Stay::kSubscription, Nanos(0)), Step::kServe);
  EXPECT_EQ(step_of(Stay::kSubscription, kLimit - Nanos(1)), Step::kServe);
  EXPECT_EQ(step_of(Stay::kSubscription, Nanos(0), true), Step::kClose);
  EXPECT_EQ(step_of(Stay::kSubscription, kLimit), Step::kClose);
}

TEST(Drain, EndsWaitsAtTheLimitAndCutsTheRestAfterTheLastReplies) {
  EXPECT_EQ(step_of(Stay::kWait, kLimit), Step::kEndWait);
  EXPECT_EQ(step_of(Stay::kTransaction, kLimit), Step::kFinish);
  EXPECT_EQ(step_of(Stay::kReplies, kLimit + Drain::kLast - Nanos(1)), Step::kFinish);
  for (const Stay why : {Stay::kReplies, Stay::kTransaction, Stay::kWait, Stay::kSubscription,
                         Stay::kClosing, Stay::kAtRest}) {
    EXPECT_EQ(step_of(why, kLimit + Drain::kLast), Step::kCut);
  }
}

TEST(DrainProgress, OnlySubscribersAreLeftWhenEveryWorkerHasCountedItsClients) {
  DrainProgress progress;
  progress.workers_to_begin = 1;
  progress.clients[static_cast<std::size_t>(Stay::kSubscription)] = 3;
  EXPECT_FALSE(progress.only_subscribers());
  progress.workers_to_begin = 0;
  EXPECT_TRUE(progress.only_subscribers());
  progress.clients[static_cast<std::size_t>(Stay::kClosing)] = 1;
  EXPECT_FALSE(progress.only_subscribers());
}

TEST(DrainProgress, SaysWhyClientsRemain) {
  EXPECT_EQ(describe_stays({5, 0, 0, 0, 0, 0}), "");
  EXPECT_EQ(describe_stays({5, 1, 2, 0, 3, 0}),
            "1 waiting for replies, 2 in a transaction, 3 with subscriptions");
}

}  // namespace
}  // namespace heatsink::proxy
