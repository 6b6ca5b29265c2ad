// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/worker_inbox.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

std::vector<detect::Summary> counted(std::uint64_t requests) {
  std::vector<detect::Summary> summaries(1);
  summaries.front().requests = requests;
  return summaries;
}

TEST(WorkerInbox, KeepsTheLatestSummariesOfEachWorker) {
  WorkerInbox inbox(2);
  EXPECT_TRUE(inbox.put(0, counted(1), true));
  for (std::uint64_t i = 2; i <= 1000; ++i) EXPECT_FALSE(inbox.put(0, counted(i), false));
  EXPECT_FALSE(inbox.put(1, counted(7), false));
  EXPECT_EQ(inbox.replaced(), 999U);

  inbox.begin_to_take();
  const WorkerInbox::Content first = inbox.take(0);
  ASSERT_EQ(first.summaries.size(), 1U);
  EXPECT_EQ(first.summaries.front().requests, 1000U);
  EXPECT_TRUE(first.is_urgent) << "a replaced summary was urgent";
  EXPECT_EQ(inbox.take(1).summaries.front().requests, 7U);

  EXPECT_TRUE(inbox.take(0).summaries.empty());
  EXPECT_TRUE(inbox.put(0, counted(1), false)) << "the keeper must be told again";
  EXPECT_FALSE(inbox.take(0).is_urgent);
  EXPECT_EQ(inbox.replaced(), 999U);
}

TEST(WorkerInbox, SamplesAddUpToALimit) {
  WorkerInbox inbox(1);
  for (std::uint64_t i = 0; i < 3; ++i) {
    WorkerSample sample;
    sample.accesses.assign(3000, {KeyHash{i}, false});
    sample.hits.assign(1, {KeyHash{i}, 5});
    sample.work.commands = 100;
    EXPECT_EQ(inbox.put(0, sample), i == 0);
  }
  const WorkerSample taken = inbox.take(0).sample;
  EXPECT_EQ(taken.accesses.size(), WorkerInbox::kSampledMax);
  EXPECT_EQ(taken.hits.size(), 3U);
  EXPECT_EQ(taken.work.commands, 300U);
  EXPECT_TRUE(inbox.take(0).sample.empty());
}

}  // namespace
}  // namespace heatsink::copies
