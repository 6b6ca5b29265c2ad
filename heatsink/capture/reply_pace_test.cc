// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/reply_pace.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace heatsink::capture {
namespace {

constexpr double kMax = 10'000;
constexpr std::int64_t kTick = 10'000'000;  // ns

// A traffic of replies that come evenly, of which the watched part is seen.
class Traffic {
 public:
  // The changes within `ticks`.
  std::vector<unsigned> run(double segments_per_s, int ticks, std::uint64_t bytes_each = 0) {
    std::vector<unsigned> out;
    for (int i = 0; i < ticks; ++i, now_ns += kTick) {
      left_ += segments_per_s / 100 * parts() / ReplyWatch::kParts;
      const auto whole = static_cast<std::uint64_t>(left_);
      left_ -= static_cast<double>(whole);
      seen_.segments += whole;
      seen_.bytes += whole * bytes_each;
      if (const auto to = pace_.next(now_ns, seen_)) {
        watch_ = *to;
        out.push_back(watch_.parts);
      }
    }
    return out;
  }
  int parts() const { return std::popcount(watch_.parts); }

  std::int64_t now_ns = 1'700'000'000'000'000'000;

 private:
  ReplyPace pace_{kMax};
  ReplyWatch watch_;
  RepliesSeen seen_;
  double left_ = 0;
};

TEST(ReplyPace, SlowTrafficIsWatchedWhole) {
  Traffic traffic;
  EXPECT_TRUE(traffic.run(0.9 * kMax, 3000).empty());
}

TEST(ReplyPace, FastTrafficIsWatchedInPartsByTurns) {
  Traffic traffic;
  EXPECT_EQ(traffic.run(1.1 * kMax, 30), (std::vector<unsigned>{1}));
  EXPECT_EQ(traffic.run(1.1 * kMax, 1600),
            (std::vector<unsigned>{2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128, 1}));
}

TEST(ReplyPace, BigRepliesAreFast) {
  Traffic traffic;
  EXPECT_TRUE(traffic.run(1000, 100).empty());
  EXPECT_FALSE(traffic.run(1000, 100, 64 * 1024).empty());
}

TEST(ReplyPace, WhenItIsSlowAgainItIsWatchedWhole) {
  Traffic traffic;
  traffic.run(20'000, 830);
  ASSERT_EQ(traffic.parts(), 1);
  traffic.run(0.6 * kMax, 1700);
  EXPECT_EQ(traffic.parts(), 1) << "not slow enough";
  traffic.run(0.4 * kMax, 1700);
  EXPECT_EQ(traffic.parts(), 8);
}

// One connection is seen in one slot of eight.
TEST(ReplyPace, OnlyAWholeRoundTellsThatItIsSlow) {
  ReplyPace pace(kMax);
  RepliesSeen seen;
  ReplyWatch watch;
  std::int64_t now_ns = 0;
  for (int i = 0; i < 4000; ++i, now_ns += kTick) {
    if (watch.covers(6)) seen.segments += 1000;
    watch = pace.next(now_ns, seen).value_or(watch);
    EXPECT_EQ(watch == ReplyWatch(), i < 25) << i;
  }
}

TEST(ReplyPace, WhoComesLateGoesOnWithTheNextPart) {
  Traffic traffic;
  traffic.run(20'000, 30);
  traffic.now_ns += 5'000'000'000;
  EXPECT_EQ(traffic.run(20'000, 10), (std::vector<unsigned>{2}));
}

TEST(ReplyPace, AClockThatIsSetBackDoesNotStopIt) {
  Traffic traffic;
  traffic.run(20'000, 130);
  traffic.now_ns -= 3'600'000'000'000;
  EXPECT_EQ(traffic.run(20'000, 210), (std::vector<unsigned>{4, 8}));
}

}  // namespace
}  // namespace heatsink::capture
