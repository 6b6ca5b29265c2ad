// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/write_counting.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "heatsink/cache/fences.h"
#include "heatsink/cache/hot_table.h"

namespace heatsink::cache {
namespace {

constexpr bool kEmpty = true;
constexpr bool kHasKeys = false;

class WriteCountingTest : public testing::Test {
 protected:
  bool follow(bool is_empty, Nanos now) {
    return counting_.follow(is_empty, epochs_, TimePoint(now));
  }
  void stop_counting() { follow(kEmpty, WriteCounting::kEmptyFor); }

  Epochs epochs_;
  Epochs::Reader& worker_ = epochs_.add_reader();
  WriteCounting counting_;
};

TEST_F(WriteCountingTest, StopsWhenTheTableHasBeenEmptyForAWhile) {
  EXPECT_TRUE(counting_.counts() && counting_.all_counted());
  const Nanos last_key_at = Millis(5'000);
  EXPECT_FALSE(follow(kHasKeys, last_key_at));
  EXPECT_FALSE(follow(kEmpty, last_key_at + WriteCounting::kEmptyFor - Nanos(1)));
  EXPECT_TRUE(counting_.counts() && counting_.all_counted());
  EXPECT_FALSE(follow(kEmpty, last_key_at + WriteCounting::kEmptyFor));
  EXPECT_FALSE(counting_.counts());
  EXPECT_FALSE(counting_.all_counted());
  EXPECT_FALSE(follow(kEmpty, last_key_at + Millis(9'000)));
  EXPECT_FALSE(counting_.counts());
}

TEST_F(WriteCountingTest, WithoutUncountedWritesCopiesAreServedAtOnce) {
  stop_counting();
  EXPECT_FALSE(follow(kHasKeys, Millis(200)));
  EXPECT_TRUE(counting_.counts());
  EXPECT_TRUE(counting_.all_counted());
}

TEST_F(WriteCountingTest, WaitsForTheEndOfEachWorkersTurn) {
  worker_.quiescent();
  stop_counting();
  EXPECT_TRUE(follow(kHasKeys, Millis(200)));
  EXPECT_TRUE(counting_.counts());
  EXPECT_FALSE(counting_.all_counted());
  counting_.sent_uncounted(0);  // the worker had looked before
  worker_.quiescent();
  EXPECT_TRUE(follow(kHasKeys, Millis(201)));
  EXPECT_FALSE(counting_.all_counted());
  counting_.ended_uncounted(0);
  EXPECT_FALSE(follow(kHasKeys, Millis(202)));
  EXPECT_TRUE(counting_.all_counted());
}

TEST_F(WriteCountingTest, WaitsForTheRepliesOfAllWorkers) {
  stop_counting();
  counting_.sent_uncounted(0);
  counting_.sent_uncounted(0);
  counting_.sent_uncounted(7);
  EXPECT_TRUE(follow(kHasKeys, Millis(200)));
  counting_.ended_uncounted(0);
  counting_.ended_uncounted(7);
  EXPECT_TRUE(follow(kHasKeys, Millis(201)));
  EXPECT_FALSE(counting_.all_counted());
  counting_.ended_uncounted(0);
  EXPECT_FALSE(follow(kHasKeys, Millis(202)));
  EXPECT_TRUE(counting_.all_counted());
}

TEST_F(WriteCountingTest, GoesOnWhenTheKeysLeaveMeanwhile) {
  stop_counting();
  counting_.sent_uncounted(0);
  EXPECT_TRUE(follow(kHasKeys, Millis(200)));
  EXPECT_TRUE(follow(kEmpty, Millis(900)));
  EXPECT_TRUE(counting_.counts());
  counting_.ended_uncounted(0);
  EXPECT_FALSE(follow(kEmpty, Millis(901)));
  EXPECT_TRUE(counting_.all_counted());
  follow(kEmpty, Millis(902));
  EXPECT_FALSE(counting_.counts());
}

TEST_F(WriteCountingTest, AWriteMayBeInFlightUntilAllAreCounted) {
  HotTable table{HotTableLimits{}, epochs_};
  Fences fences{table};
  const NameHash name{1};
  EXPECT_FALSE(fences.write_in_flight(name));
  fences.counting().follow(kEmpty, epochs_, TimePoint(WriteCounting::kEmptyFor));
  EXPECT_TRUE(fences.write_in_flight(name));
  EXPECT_FALSE(fences.counted_in_flight(name));
  fences.counting().follow(kHasKeys, epochs_, TimePoint(Millis(200)));
  EXPECT_FALSE(fences.write_in_flight(name));
}

// Workers send and end writes while the writer's table fills and empties. Each sees that no write
// of its own is uncounted while all are counted.
TEST(WriteCountingThreads, NoWriteIsUncountedWhileAllAreCounted) {
  constexpr std::size_t kWorkers = 2;
  constexpr int kWritesAtOnce = 3;
  Epochs epochs;
  WriteCounting counting;
  std::array<std::atomic<int>, kWorkers> uncounted{};
  std::atomic<bool> ends{false};
  std::vector<Epochs::Reader*> readers;
  for (std::size_t i = 0; i < kWorkers; ++i) readers.push_back(&epochs.add_reader());
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&, i] {
      while (!ends.load()) {
        readers[i]->quiescent();
        int sent = 0;
        for (int n = 0; n < kWritesAtOnce; ++n) {
          if (counting.counts()) continue;
          counting.sent_uncounted(i);
          uncounted[i].fetch_add(1);
          ++sent;
        }
        readers[i]->quiescent();
        for (; sent > 0; --sent) {
          uncounted[i].fetch_sub(1);
          counting.ended_uncounted(i);
        }
        readers[i]->offline();
      }
    });
  }
  constexpr int kWaits = 500;  // at so many looks some worker's writes were uncounted
  int waits = 0;
  for (int round = 0; waits < kWaits && !testing::Test::HasFailure(); ++round) {
    const TimePoint now(round * WriteCounting::kEmptyFor * 2);
    counting.follow(kEmpty, epochs, now + WriteCounting::kEmptyFor);
    EXPECT_FALSE(counting.counts());
    while (counting.follow(kHasKeys, epochs, now + WriteCounting::kEmptyFor)) ++waits;
    for (const std::atomic<int>& writes : uncounted) EXPECT_EQ(writes.load(), 0);
  }
  ends.store(true);
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace heatsink::cache
