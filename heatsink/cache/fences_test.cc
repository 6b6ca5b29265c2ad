// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/fences.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>

#include "heatsink/cache/epochs.h"

namespace heatsink::cache {
namespace {

constexpr std::uint64_t kSeed = 1;

TimePoint at_ns(std::int64_t ns) { return TimePoint(Nanos(ns)); }
NameHash fenced_name(std::string_view key) { return hash_name(key, kSeed); }

class FencesTest : public testing::Test {
 protected:
  void enter(std::string_view key, std::uint32_t db, TimePoint now = TimePoint{}) {
    ASSERT_TRUE(table_.admit(key, db, in_db(fenced_name(key), db), fenced_name(key), now));
  }
  void leave(std::string_view key, std::uint32_t db) { table_.demote(in_db(fenced_name(key), db)); }
  TimePoint fence(std::string_view key, std::uint32_t db = 0) const {
    return fences_.fence(*table_.entry(in_db(fenced_name(key), db)));
  }

  Epochs epochs_;
  HotTable table_{HotTableLimits{}, epochs_};
  Fences fences_{table_};
};

TEST_F(FencesTest, AWriteIsInFlightUntilItsReply) {
  enter("k", 0);
  enter("other", 0);
  fences_.write_begins(fenced_name("k"));
  EXPECT_TRUE(fences_.write_in_flight(fenced_name("k")));
  EXPECT_FALSE(fences_.write_in_flight(fenced_name("other")));
  EXPECT_EQ(fence("k"), at_ns(0));
  fences_.write_begins(fenced_name("k"));
  fences_.write_ends(fenced_name("k"), at_ns(7));
  EXPECT_TRUE(fences_.write_in_flight(fenced_name("k")));
  fences_.write_ends(fenced_name("k"), at_ns(8));
  EXPECT_FALSE(fences_.write_in_flight(fenced_name("k")));
  EXPECT_EQ(fence("k"), at_ns(8));
  EXPECT_EQ(fence("other"), at_ns(0));
}

// Tracking knows names, not databases, and so do scripts that select another one.
TEST_F(FencesTest, AWriteConcernsItsNameInAllDatabases) {
  enter("k", 0);
  enter("k", 7);
  enter("k", 9);
  leave("k", 9);
  fences_.write_begins(fenced_name("k"));
  fences_.write_ends(fenced_name("k"), at_ns(7));
  EXPECT_EQ(fence("k", 0), at_ns(7));
  EXPECT_EQ(fence("k", 7), at_ns(7));
  enter("k", 9, at_ns(8));
  fences_.raise(fenced_name("k"), at_ns(9));
  EXPECT_EQ(fence("k", 9), at_ns(9));
}

TEST_F(FencesTest, AReadConcernsItsKeyAlone) {
  enter("k", 0);
  enter("k", 7);
  fences_.raise(in_db(fenced_name("k"), 7), at_ns(5));
  EXPECT_EQ(fence("k", 0), at_ns(0));
  EXPECT_EQ(fence("k", 7), at_ns(5));
}

// While it was not in the table, nothing was noted of what clients have been shown.
TEST_F(FencesTest, BeginsWhenTheKeyEntersTheTable) {
  fences_.raise(fenced_name("k"), at_ns(5));
  enter("k", 0, at_ns(3));
  EXPECT_EQ(fence("k"), at_ns(3));
}

// Fills have times of their own, which may be ahead of a coarse clock. One of an earlier residence
// must make no copy.
TEST_F(FencesTest, BeginsNoEarlierThanTheLastFill) {
  table_.note_sent(at_ns(6));
  enter("k", 0, at_ns(5));
  EXPECT_EQ(fence("k"), at_ns(6));
}

TEST_F(FencesTest, AFenceForAllNamesCountsBesideEachKeysOwn) {
  enter("k", 0);
  enter("other", 0);
  fences_.raise(fenced_name("k"), at_ns(7));
  fences_.raise_all(at_ns(5));
  EXPECT_EQ(fence("k"), at_ns(7));
  EXPECT_EQ(fence("other"), at_ns(5));
  fences_.raise_all(at_ns(9));
  fences_.raise_all(at_ns(8));
  EXPECT_EQ(fence("k"), at_ns(9));
  EXPECT_EQ(fences_.fence_to_join(at_ns(1)), at_ns(9));
}

TEST_F(FencesTest, UnknownKeysEndNoCopyButNoReaderJoinsAnOlderFill) {
  enter("k", 0);
  fences_.raise_unknown(at_ns(7));
  EXPECT_EQ(fence("k"), at_ns(0));
  EXPECT_EQ(fences_.fence_to_join(fence("k")), at_ns(7));
  EXPECT_EQ(fences_.fence_to_join(at_ns(8)), at_ns(8));
}

TEST_F(FencesTest, AFenceNeverFalls) {
  enter("k", 0);
  fences_.raise(fenced_name("k"), at_ns(9));
  fences_.raise(fenced_name("k"), at_ns(5));  // an older clock reading, from a slower worker
  fences_.write_begins(fenced_name("k"));
  fences_.write_ends(fenced_name("k"), at_ns(3));
  EXPECT_EQ(fence("k"), at_ns(9));
}

// A reader that no longer sees the write in flight must see its fence.
TEST_F(FencesTest, StressTheFenceIsUpBeforeTheWriteIsCountedDown) {
  constexpr std::int64_t kWrites = 1'000'000;  // about 50 ms
  enter("k", 0);
  const NameHash name = fenced_name("k");
  std::atomic<bool> watched{false};
  std::atomic<std::int64_t> begun{0};
  std::thread writer([&] {
    while (!watched.load()) std::this_thread::yield();
    for (std::int64_t i = 1; i <= kWrites; ++i) {
      fences_.write_begins(name);
      begun.store(i);
      fences_.write_ends(name, at_ns(i));
    }
  });
  watched = true;
  int missed = 0;
  const Entry& entry = *table_.entry(in_db(name, 0));
  for (std::int64_t write = 0; write < kWrites; write = begun.load()) {
    while (fences_.write_in_flight(name)) {
    }
    if (fences_.fence(entry) < at_ns(write)) ++missed;
  }
  writer.join();
  EXPECT_EQ(missed, 0);
}

TEST_F(FencesTest, StressConcurrentRaisesKeepTheLatest) {
  constexpr std::int64_t kRaises = 20'000;
  enter("k", 0);
  const auto raise_each = [&](std::int64_t first) {
    for (std::int64_t i = first; i <= kRaises; i += 2) fences_.raise(fenced_name("k"), at_ns(i));
  };
  std::thread odd(raise_each, 1);
  raise_each(2);
  odd.join();
  EXPECT_EQ(fence("k"), at_ns(kRaises));
}

}  // namespace
}  // namespace heatsink::cache
