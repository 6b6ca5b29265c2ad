// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/timer_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>

namespace heatsink::net {
namespace {

TimePoint at(int ms) { return TimePoint(Millis(ms)); }

TEST(TimerQueue, RunsInOrderOfTimeThenOfAdding) {
  TimerQueue queue;
  std::string ran;
  queue.add(at(20), Nanos(0), [&] { ran += 'c'; });
  queue.add(at(10), Nanos(0), [&] { ran += 'a'; });
  queue.add(at(10), Nanos(0), [&] { ran += 'b'; });
  queue.add(at(30), Nanos(0), [&] { ran += 'd'; });
  queue.run_due(at(9));
  EXPECT_EQ(ran, "");
  queue.run_due(at(20));
  EXPECT_EQ(ran, "abc");
  EXPECT_EQ(queue.next_due(), at(30));
  queue.run_due(at(99));
  EXPECT_EQ(ran, "abcd");
  EXPECT_EQ(queue.next_due(), std::nullopt);
}

TEST(TimerQueue, CancelDestroysTheCallbackAtOnce) {
  TimerQueue queue;
  auto owned = std::make_shared<int>(1);
  TimerId timer = queue.add(at(10), Nanos(0), [owned] {});
  EXPECT_EQ(owned.use_count(), 2);
  queue.cancel(timer);
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(TimerQueue, AnIdOfTheDeadCancelsNobody) {
  TimerQueue queue;
  int ran = 0;
  TimerId old = queue.add(at(10), Nanos(0), [] {});
  queue.run_due(at(10));
  TimerId young = queue.add(at(20), Nanos(0), [&] { ++ran; });
  EXPECT_NE(old, young);
  queue.cancel(old);
  queue.cancel(0);
  queue.run_due(at(20));
  EXPECT_EQ(ran, 1);
}

TEST(TimerQueue, APeriodicTimerDoesNotMakeUpForLateTurns) {
  TimerQueue queue;
  int ran = 0;
  queue.add(at(10), Millis(10), [&] { ++ran; });
  queue.run_due(at(35));
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(queue.next_due(), at(45));
  queue.run_due(at(45));
  EXPECT_EQ(ran, 2);
}

TEST(TimerQueue, APeriodicTimerMayCancelItself) {
  TimerQueue queue;
  auto owned = std::make_shared<int>(0);
  TimerId timer = 0;
  timer = queue.add(at(10), Millis(10), [&, owned] {
    ++*owned;
    queue.cancel(timer);
    EXPECT_GE(owned.use_count(), 2) << "the running callback must outlive its cancellation";
  });
  for (int ms = 10; ms < 100; ms += 10) queue.run_due(at(ms));
  EXPECT_EQ(*owned, 1);
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(TimerQueue, ACallbackThatArmsItselfForNowDoesNotHoldTheLoop) {
  TimerQueue queue;
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    queue.add(at(0), Nanos(0), again);
  };
  bool other = false;
  queue.add(at(10), Nanos(0), again);
  queue.add(at(10), Nanos(0), [&] { other = true; });
  queue.run_due(at(10));
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(other) << "a young timer stood in front of an old one";
  queue.run_due(at(10));
  EXPECT_EQ(ran, 2);
}

TEST(TimerQueue, ACallbackMayCancelOneThatIsDueToo) {
  TimerQueue queue;
  bool ran = false;
  TimerId second = 0;
  queue.add(at(10), Nanos(0), [&] { queue.cancel(second); });
  second = queue.add(at(10), Nanos(0), [&] { ran = true; });
  queue.run_due(at(10));
  EXPECT_FALSE(ran);
}

// Against the plainest model there is: a sorted set.
TEST(TimerQueue, AgreesWithASortedSetOverRandomHistories) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TimerQueue queue;
    std::set<std::pair<int, TimerId>> model;
    std::multiset<int> ran;
    for (int step = 0; step < 300; ++step) {
      if (random() % 3 != 0 || model.empty()) {
        const int due = static_cast<int>(random() % 1000);
        model.emplace(due, queue.add(at(due), Nanos(0), [&ran, due] { ran.insert(due); }));
      } else {
        auto victim = std::next(model.begin(), static_cast<int>(random() % model.size()));
        queue.cancel(victim->second);
        model.erase(victim);
      }
      ASSERT_EQ(queue.size(), model.size());
      ASSERT_EQ(queue.next_due(),
                model.empty() ? std::nullopt : std::optional(at(model.begin()->first)));
    }
    for (int now = 0; now <= 1000; now += 50) {
      queue.run_due(at(now));
      std::multiset<int> due;
      for (const auto& [when, id] : model)
        if (when <= now) due.insert(when);
      ASSERT_EQ(ran, due);
    }
  }
}

}  // namespace
}  // namespace heatsink::net
