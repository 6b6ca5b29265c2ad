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

TEST(FillInbox, TheKeeperIsToldOnceForAllThatWait) {
  FillInbox inbox;
  EXPECT_TRUE(inbox.put(fill_of("a")));
  EXPECT_FALSE(inbox.put(fill_of("b")));
  std::vector<FillRequest> taken;
  inbox.take(taken);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].key, "a");
  EXPECT_EQ(taken[1].key, "b");
  EXPECT_TRUE(inbox.put(fill_of("c")));
}

TEST(FillInbox, ItIsFullUntilTheKeeperTakes) {
  FillInbox inbox;
  for (std::size_t i = 0; i < FillInbox::kWaitingMax; ++i) {
    EXPECT_FALSE(inbox.is_full());
    static_cast<void>(inbox.put(fill_of("a")));
  }
  EXPECT_TRUE(inbox.is_full());
  std::vector<FillRequest> taken;
  inbox.take(taken);
  EXPECT_FALSE(inbox.is_full());
}

TEST(FillInbox, NoFillIsLostBetweenThreads) {
  FillInbox inbox;
  constexpr std::size_t kEach = 5000;
  std::atomic<std::size_t> told{0};
  const auto worker = [&] {
    for (std::size_t i = 0; i < kEach; ++i)
      if (inbox.put(fill_of("k"))) told.fetch_add(1);
  };
  std::thread one(worker), other(worker);
  std::size_t taken = 0, heard = 0;
  std::vector<FillRequest> batch;
  while (taken < 2 * kEach) {
    if (told.load() == heard) continue;  // asleep until it is told
    ++heard;
    inbox.take(batch);
    taken += batch.size();
  }
  one.join();
  other.join();
  EXPECT_EQ(taken, 2 * kEach);
}

}  // namespace
}  // namespace heatsink::copies
