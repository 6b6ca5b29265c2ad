// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/name_fences.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace heatsink::client {
namespace {

constexpr NameHash kName{0x1234'5678'9abc'0042};
constexpr NameHash kOther{0x1234'5678'9abc'0043};

TimePoint at_ns(std::int64_t ns) { return TimePoint(Nanos(ns)); }

TEST(NameFences, AtFirstNothingIsFenced) {
  const NameFences fences;
  EXPECT_EQ(fences.fence(kName), at_ns(0));
  EXPECT_FALSE(fences.write_in_flight(kName));
}

TEST(NameFences, AWriteIsInFlightUntilItsReply) {
  NameFences fences;
  fences.write_begins(kName);
  EXPECT_TRUE(fences.write_in_flight(kName));
  EXPECT_EQ(fences.fence(kName), at_ns(0));
  EXPECT_FALSE(fences.write_in_flight(kOther));
  fences.write_ends(kName, at_ns(7));
  EXPECT_FALSE(fences.write_in_flight(kName));
  EXPECT_EQ(fences.fence(kName), at_ns(7));
  EXPECT_EQ(fences.fence(kOther), at_ns(0));
}

TEST(NameFences, WritesAreCounted) {
  NameFences fences;
  fences.write_begins(kName);
  fences.write_begins(kName);
  fences.write_ends(kName, at_ns(1));
  EXPECT_TRUE(fences.write_in_flight(kName));
  fences.write_ends(kName, at_ns(2));
  EXPECT_FALSE(fences.write_in_flight(kName));
}

TEST(NameFences, AFenceNeverFalls) {
  NameFences fences;
  fences.raise(kName, at_ns(9));
  fences.raise(kName, at_ns(5));  // an older clock reading, from a slower worker
  EXPECT_EQ(fences.fence(kName), at_ns(9));
  fences.write_begins(kName);
  fences.write_ends(kName, at_ns(3));
  EXPECT_EQ(fences.fence(kName), at_ns(9));
}

TEST(NameFences, NamesOfOneStripeCostEachOtherHitsOnly) {
  NameFences fences;
  constexpr NameHash kSameStripe{0xffff'0000'0000'0042};  // the low 16 bits select the stripe
  fences.raise(kName, at_ns(4));
  EXPECT_EQ(fences.fence(kSameStripe), at_ns(4));
}

// A reader that no longer sees the write in flight must see its fence.
TEST(NameFencesStress, TheFenceIsUpBeforeTheWriteIsCountedDown) {
  constexpr std::int64_t kWrites = 1'000'000;  // about 20 ms
  NameFences fences;
  std::atomic<bool> watched{false};
  std::atomic<std::int64_t> begun{0};
  std::thread writer([&] {
    while (!watched.load()) std::this_thread::yield();
    for (std::int64_t i = 1; i <= kWrites; ++i) {
      fences.write_begins(kName);
      begun.store(i);
      fences.write_ends(kName, at_ns(i));
    }
  });
  watched = true;
  int missed = 0;
  for (std::int64_t write = 0; write < kWrites; write = begun.load()) {
    while (fences.write_in_flight(kName)) {
    }
    if (fences.fence(kName) < at_ns(write)) ++missed;
  }
  writer.join();
  EXPECT_EQ(missed, 0);
}

TEST(NameFencesStress, ConcurrentRaisesKeepTheLatest) {
  constexpr std::int64_t kRaises = 20'000;
  NameFences fences;
  const auto raise_all = [&](std::int64_t first) {
    for (std::int64_t i = first; i <= kRaises; i += 2) fences.raise(kName, at_ns(i));
  };
  std::thread odd(raise_all, 1);
  raise_all(2);
  odd.join();
  EXPECT_EQ(fences.fence(kName), at_ns(kRaises));
}

}  // namespace
}  // namespace heatsink::client
