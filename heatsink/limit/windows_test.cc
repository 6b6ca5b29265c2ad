// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/windows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "heatsink/base/testing/times.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

TEST(FixedWindow, ItsCountPassesAndNotOneMore) {
  FixedWindow window({3, 1s});
  for (std::uint64_t left = 3; left-- > 0;)
    EXPECT_EQ(window.try_acquire(1, kStart + 300ms).remaining, left);
  const Decision fourth = window.try_acquire(1, kStart + 300ms);
  EXPECT_FALSE(fourth.allowed);
  EXPECT_EQ(fourth.retry_after, 700ms);
  EXPECT_TRUE(window.try_acquire(1, kStart + 1s).allowed);
}

TEST(FixedWindow, TwiceItsCountPassesAtABorder) {
  FixedWindow window({3, 1s});
  EXPECT_TRUE(window.try_acquire(3, kStart + 999ms).allowed);
  EXPECT_TRUE(window.try_acquire(3, kStart + 1s).allowed);
}

TEST(FixedWindow, MoreThanItsCountIsNever) {
  FixedWindow window({3, 1s});
  EXPECT_EQ(window.try_acquire(4, kStart).retry_after, kNever);
  EXPECT_EQ(window.try_acquire(0, kStart).remaining, 3U);
}

TEST(FixedWindow, AnIdleWindowSavesNothingUp) {
  FixedWindow window({3, 1s});
  ASSERT_TRUE(window.try_acquire(1, kStart).allowed);
  EXPECT_EQ(window.try_acquire(0, kStart + 100s).remaining, 3U);
}

TEST(FixedWindow, AClockThatGoesBackALittleGivesNothing) {
  FixedWindow window({3, 1s});
  ASSERT_TRUE(window.try_acquire(3, kStart + 1s).allowed);
  EXPECT_FALSE(window.try_acquire(1, kStart + 999ms).allowed);
  EXPECT_EQ(window.try_acquire(1, kStart + 999ms).retry_after, 1001ms);
}

TEST(FixedWindow, AClockSetBackGoesOnFromThere) {
  FixedWindow window({3, 1s});
  ASSERT_TRUE(window.try_acquire(3, kStart).allowed);
  EXPECT_FALSE(window.try_acquire(1, kStart - 1h).allowed);
  EXPECT_TRUE(window.try_acquire(3, kStart - 1h + 1s).allowed);
}

RC_GTEST_PROP(FixedWindow, IsACountPerWindow, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(1, 20), Millis(*rc::gen::inRange(1, 50))};
  FixedWindow window(rate);
  std::map<std::int64_t, std::uint64_t> model;
  TimePoint now = kStart;
  for (int i = 0; i < 300; ++i) {
    now += Nanos(*rc::gen::inRange<std::int64_t>(0, rate.per.count() / 4));
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 5);
    std::uint64_t& used = model[now.time_since_epoch() / rate.per];
    const Decision decision = window.try_acquire(n, now);
    RC_ASSERT(decision.allowed == (used + n <= rate.count));
    if (decision.allowed) used += n;
    RC_ASSERT(decision.remaining == rate.count - used);
  }
}

}  // namespace

namespace {

using namespace std::chrono_literals;

TEST(SlidingWindow, ItsCountPassesAndNotOneMore) {
  SlidingWindow window({3, 1s}, 10);
  for (std::uint64_t left = 3; left-- > 0;)
    EXPECT_EQ(window.try_acquire(1, kStart + 50ms).remaining, left);
  const Decision fourth = window.try_acquire(1, kStart + 50ms);
  EXPECT_FALSE(fourth.allowed);
  EXPECT_EQ(fourth.retry_after, 1050ms);  // when its slot is out of the window with certainty
}

TEST(SlidingWindow, HasNoBurstAtABorder) {
  SlidingWindow window({3, 1s}, 10);
  EXPECT_TRUE(window.try_acquire(3, kStart + 999ms).allowed);
  EXPECT_FALSE(window.try_acquire(1, kStart + 1001ms).allowed);
  EXPECT_FALSE(window.try_acquire(1, kStart + 1998ms).allowed);
  EXPECT_TRUE(window.try_acquire(3, kStart + 2s).allowed);
}

TEST(SlidingWindow, MoreThanItsCountIsNever) {
  SlidingWindow window({3, 1s}, 10);
  EXPECT_EQ(window.try_acquire(4, kStart).retry_after, kNever);
  EXPECT_EQ(window.try_acquire(0, kStart).remaining, 3U);
}

TEST(SlidingWindow, ForgetsWhatIsLongAgo) {
  SlidingWindow window({3, 1s}, 10);
  ASSERT_TRUE(window.try_acquire(3, kStart).allowed);
  EXPECT_EQ(window.try_acquire(0, kStart + 1h).remaining, 3U);
}

TEST(SlidingWindow, ACallerWhoseClockIsBehindGetsNothingMore) {
  SlidingWindow window({4, 100ms}, 10);
  ASSERT_TRUE(window.try_acquire(4, kStart + 150ms).allowed);
  for (const Nanos behind : {1ms, 40ms, 100ms, 110ms, 150ms})
    EXPECT_FALSE(window.try_acquire(1, kStart + 150ms - behind).allowed) << behind.count();
}

TEST(SlidingWindow, AClockSetBackBeginsAnew) {
  SlidingWindow window({3, 1s}, 10);
  ASSERT_TRUE(window.try_acquire(3, kStart).allowed);
  EXPECT_TRUE(window.try_acquire(3, kStart - 1h).allowed);
  EXPECT_FALSE(window.try_acquire(1, kStart - 1h).allowed);
}

class Traffic {
 public:
  explicit Traffic(Nanos length) : length_(length) {}
  void passed(TimePoint now, std::uint64_t n) { log_.emplace_back(now, n); }
  // In the `length` up to now, its beginning not included.
  std::uint64_t in_window(TimePoint now, Nanos length) const {
    std::uint64_t sum = 0;
    for (const auto& [at, n] : log_) sum += at > now - length ? n : 0;
    return sum;
  }
  Nanos length() const { return length_; }

 private:
  Nanos length_;
  std::deque<std::pair<TimePoint, std::uint64_t>> log_;
};

RC_GTEST_PROP(SlidingWindow, LiesBetweenTheExactWindowAndOneThatIsASlotLonger, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(1, 30), Millis(*rc::gen::inRange(1, 50))};
  const auto slots = *rc::gen::inRange<std::uint32_t>(1, 65);
  SlidingWindow window(rate, slots);
  Traffic traffic(rate.per);
  const Nanos slot = rate.per / slots + 1ns;
  TimePoint now = kStart;
  for (int i = 0; i < 300; ++i) {
    now += Nanos(*rc::gen::inRange<std::int64_t>(0, rate.per.count() / 8));
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 4);
    const bool allowed = window.try_acquire(n, now).allowed;
    if (allowed) {
      traffic.passed(now, n);
      RC_ASSERT(traffic.in_window(now, rate.per) <= rate.count);
    } else {
      RC_ASSERT(traffic.in_window(now, rate.per + 2 * slot) + n > rate.count);
    }
  }
}

RC_GTEST_PROP(SlidingWindow, RetryAfterIsWhenItIsAllowed, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(5, 30), Millis(*rc::gen::inRange(1, 50))};
  SlidingWindow window(rate, *rc::gen::inRange<std::uint32_t>(1, 65));
  TimePoint now = kStart;
  for (int i = 0; i < 100; ++i) {
    now += Nanos(*rc::gen::inRange<std::int64_t>(0, rate.per.count() / 20));
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 6);
    const Decision decision = window.try_acquire(n, now);
    if (decision.allowed) continue;
    RC_ASSERT(decision.retry_after > 0ns);
    RC_ASSERT(!window.try_acquire(n, now + decision.retry_after - 1ns).allowed);
    now += decision.retry_after;
    RC_ASSERT(window.try_acquire(n, now).allowed);
  }
}

TEST(SlidingWindow, UnderPressureItsStatedPartPasses) {
  SlidingWindow window({1000, 1s}, 10);
  std::uint64_t passed = 0;
  for (TimePoint now = kStart; now < kStart + 110s; now += 100us)
    passed += window.try_acquire(1, now).allowed ? 1U : 0U;
  EXPECT_LE(passed, 110'000U);
  EXPECT_GE(passed, 100'000U);  // 10 / 11 of it
}

}  // namespace

}  // namespace heatsink::limit
