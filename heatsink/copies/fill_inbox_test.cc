// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/fill_inbox.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace heatsink::copies {
namespace {

FillRequest fill_of(std::string key) {
  return {.worker = 0, .hash = {}, .key = std::move(key), .db = 0, .fence = {}};
}

TEST(FillInbox, TheKeeperIsToldOnceOfAllThatATurnAsked) {
  FillInbox inbox;
  EXPECT_EQ(inbox.untold(), 0U);
  inbox.put(fill_of("a"));
  inbox.put(fill_of("b"));
  EXPECT_EQ(inbox.untold(), 2U);
  EXPECT_EQ(inbox.untold(), 0U);
  std::vector<FillRequest> taken;
  inbox.take(2, taken);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].key, "a");
  EXPECT_EQ(taken[1].key, "b");
  EXPECT_EQ(inbox.untold(), 0U);
  inbox.put(fill_of("c"));
  EXPECT_EQ(inbox.untold(), 1U);
}

TEST(FillInbox, AMessageTakesNothingThatWasPutBehindIt) {
  FillInbox inbox;
  inbox.put(fill_of("a"));
  EXPECT_EQ(inbox.untold(), 1U);
  inbox.put(fill_of("b"));
  inbox.put(fill_of("c"));
  std::vector<FillRequest> taken;
  inbox.take(1, taken);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].key, "a");
  EXPECT_EQ(inbox.untold(), 2U);
  inbox.take(2, taken);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].key, "b");
}

TEST(FillInbox, ItIsFullUntilTheKeeperTakes) {
  FillInbox inbox;
  for (std::size_t i = 0; i < FillInbox::kWaitingMax; ++i) {
    EXPECT_FALSE(inbox.is_full());
    inbox.put(fill_of("a"));
  }
  EXPECT_TRUE(inbox.is_full());
  std::vector<FillRequest> taken;
  inbox.take(inbox.untold(), taken);
  EXPECT_FALSE(inbox.is_full());
}

TEST(FillInbox, NoFillIsLostBetweenThreads) {
  FillInbox inbox;
  constexpr std::size_t kEach = 5000;
  std::atomic<std::size_t> told{0};
  const auto worker = [&] {
    for (std::size_t i = 0; i < kEach; ++i) {
      inbox.put(fill_of("k"));
      if (i % 3 == 0 || i + 1 == kEach) told.fetch_add(inbox.untold());  // the end of a turn
    }
  };
  std::thread one(worker), other(worker);
  std::size_t taken = 0;
  std::vector<FillRequest> batch;
  while (taken < 2 * kEach) {
    const std::size_t count = told.load() - taken;
    if (count == 0) continue;  // the keeper sleeps until a message comes
    inbox.take(count, batch);
    EXPECT_EQ(batch.size(), count);
    taken += count;
  }
  one.join();
  other.join();
  EXPECT_EQ(taken, 2 * kEach);
}

}  // namespace
}  // namespace heatsink::copies
