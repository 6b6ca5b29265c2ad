// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

#include "heatsink/net/fd.h"

namespace heatsink::net {
namespace {

constexpr Nanos kAtOnce{0};
constexpr Nanos kLong = std::chrono::seconds(10);

struct SocketPair {
  SocketPair() {
    int both[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both), 0);
    near = Fd(both[0]);
    far = Fd(both[1]);
  }
  void make_readable() const { EXPECT_EQ(::write(far.get(), "x", 1), 1); }
  Fd near;
  Fd far;
};

struct Handler final : FdHandler {
  void on_readable() override {
    heard += 'r';
    if (readable) readable();
  }
  void on_writable() override {
    heard += 'w';
    if (writable) writable();
  }
  std::string heard;
  std::function<void()> readable;
  std::function<void()> writable;
};

TEST(EventLoop, DeliversWhatIsAskedForAsLongAsItLasts) {
  EventLoop loop;
  SocketPair pair;
  Handler handler;
  ASSERT_TRUE(loop.add(pair.near.get(), Interest::kRead, handler).ok());
  loop.turn(kAtOnce);
  EXPECT_EQ(handler.heard, "");
  pair.make_readable();
  loop.turn(kAtOnce);
  loop.turn(kAtOnce);
  EXPECT_EQ(handler.heard, "rr") << "level-triggered";
  loop.change(pair.near.get(), Interest::kReadWrite);
  loop.turn(kAtOnce);
  EXPECT_EQ(handler.heard, "rrrw");
  loop.change(pair.near.get(), Interest::kNone);
  loop.turn(kAtOnce);
  EXPECT_EQ(handler.heard, "rrrw");
  loop.remove(pair.near.get());
}

TEST(EventLoop, AHandlerMayRemoveItselfBetweenItsTwoEvents) {
  EventLoop loop;
  SocketPair pair;
  Handler handler;
  handler.readable = [&] { loop.remove(pair.near.get()); };
  ASSERT_TRUE(loop.add(pair.near.get(), Interest::kReadWrite, handler).ok());
  pair.make_readable();
  loop.turn(kAtOnce);
  EXPECT_EQ(handler.heard, "r");
}

TEST(EventLoop, AnInterestGivenUpWithinATurnIsNotServedInIt) {
  EventLoop loop;
  SocketPair pair;
  Handler handler;
  handler.readable = [&] { loop.change(pair.near.get(), Interest::kRead); };
  ASSERT_TRUE(loop.add(pair.near.get(), Interest::kReadWrite, handler).ok());
  pair.make_readable();
  loop.turn(kAtOnce);
  EXPECT_EQ(handler.heard, "r");
  loop.remove(pair.near.get());
}

// The first of two ready handlers closes the other's descriptor, and a new connection gets its
// number.
TEST(EventLoop, AFetchedEventDoesNotReachTheNextOwnerOfTheNumber) {
  EventLoop loop;
  SocketPair pairs[2];
  Handler old[2];
  SocketPair young;
  Handler young_handler;
  for (int self = 0; self < 2; ++self) {
    old[self].readable = [&, self] {
      const int victim = pairs[1 - self].near.get();
      loop.remove(victim);
      ASSERT_EQ(dup2(young.near.get(), victim), victim);
      ASSERT_TRUE(loop.add(victim, Interest::kRead, young_handler).ok());
    };
    ASSERT_TRUE(loop.add(pairs[self].near.get(), Interest::kRead, old[self]).ok());
    pairs[self].make_readable();
  }
  loop.turn(kAtOnce);
  EXPECT_EQ((old[0].heard + old[1].heard), "r");
  EXPECT_EQ(young_handler.heard, "");
}

TEST(EventLoop, AHangupIsHeardWithoutInterestAndReadsAsReadable) {
  EventLoop loop;
  SocketPair pair;
  Handler handler;
  ASSERT_TRUE(loop.add(pair.near.get(), Interest::kNone, handler).ok());
  pair.far.close();
  loop.turn(kAtOnce);
  EXPECT_EQ(handler.heard, "r");
  loop.remove(pair.near.get());
}

TEST(EventLoop, WhatCannotBeWatchedIsRefusedAndForgotten) {
  EventLoop loop;
  Handler handler;
  SocketPair pair;
  const int closed = pair.near.get();
  pair.near.close();
  EXPECT_FALSE(loop.add(closed, Interest::kRead, handler).ok());
  Fd again(dup2(pair.far.get(), closed));
  EXPECT_TRUE(loop.add(closed, Interest::kRead, handler).ok());
  loop.remove(closed);
}

TEST(EventLoop, TimersEndASleepAndAreCancelled) {
  EventLoop loop;
  const TimePoint start = loop.now();  // what call_after() counts from
  std::string ran;
  loop.call_after(Millis(2), [&] { ran += 'a'; });
  loop.cancel(loop.call_after(Millis(1), [&] { ran += 'x'; }));
  while (ran.empty()) loop.turn(kLong);
  EXPECT_EQ(ran, "a");
  EXPECT_GE(loop.now() - start, Millis(2));
  EXPECT_LT(loop.now() - start, kLong);
}

TEST(EventLoop, TheAlarmFollowsTheTimers) {
  EventLoop loop;
  std::string ran;
  const TimerId late = loop.call_after(kLong * 2, [&] { ran += 'x'; });
  loop.turn(kAtOnce);  // sets the alarm
  const TimerId gone = loop.call_after(Millis(2), [&] { ran += 'y'; });
  loop.turn(kAtOnce);  // sets it earlier
  loop.cancel(gone);
  loop.call_after(Millis(4), [&] { ran += 'a'; });
  const TimePoint start = BootClock::now();
  while (ran.empty() && BootClock::now() - start < kLong) loop.turn(kLong);
  EXPECT_EQ(ran, "a");
  EXPECT_LT(loop.now() - start, kLong);
  loop.cancel(late);
}

TEST(EventLoop, PeriodicTimersGoOnUntilCancelled) {
  EventLoop loop;
  int ran = 0;
  TimerId timer = 0;
  timer = loop.call_every(Millis(1), [&] {
    if (++ran == 3) loop.cancel(timer);
  });
  while (ran < 3) loop.turn(kLong);
  loop.turn(Millis(3));
  EXPECT_EQ(ran, 3);
}

TEST(EventLoop, PostedWorkIsNotSleptOver) {
  EventLoop loop;
  int slept = 0;
  loop.around_sleep([&] { ++slept; }, [] {});
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.turn(kLong);
  EXPECT_TRUE(ran);
  EXPECT_EQ(slept, 0);
}

TEST(EventLoop, ThreadsKeepTheirOrderAndWakeTheLoop) {
  constexpr int kEach = 2000;
  EventLoop loop;
  int next[2] = {0, 0};
  int wrong = 0;
  const auto poster = [&](int self) {
    for (int i = 0; i < kEach; ++i)
      loop.post([&, self, i] {
        wrong += next[self]++ != i;
        if (next[0] + next[1] == 2 * kEach) loop.stop();
      });
  };
  std::thread threads[2] = {std::thread(poster, 0), std::thread(poster, 1)};
  loop.run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(next[0] + next[1], 2 * kEach);
  EXPECT_EQ(wrong, 0);
}

TEST(EventLoop, HooksStandAtTheTurnsEndAndAroundTheSleep) {
  EventLoop loop;
  SocketPair pair;
  Handler handler;
  std::string order;
  handler.readable = [&] { order += "event "; };
  loop.on_turn_end([&] { order += "end "; });
  loop.around_sleep([&] { order += "before "; }, [&] { order += "after "; });
  ASSERT_TRUE(loop.add(pair.near.get(), Interest::kRead, handler).ok());
  pair.make_readable();
  loop.turn(kLong);
  EXPECT_EQ(order, "before after event end ");
  order.clear();
  loop.turn(kAtOnce);
  EXPECT_EQ(order, "event end ") << "a look is no sleep";
  loop.remove(pair.near.get());
}

TEST(EventLoop, StopsBeforeItRunsAndRunsAgain) {
  EventLoop loop;
  bool has_forgotten = false, ran_again = false;
  const TimerId guard = loop.call_after(kLong, [&] {
    has_forgotten = true;
    loop.stop();
  });
  loop.stop();
  loop.run();
  EXPECT_FALSE(has_forgotten) << "that it was told to stop before it ran";
  loop.cancel(guard);
  std::thread other([&] {
    loop.post([&] { ran_again = true; });
    loop.stop();
  });
  loop.run();
  other.join();
  EXPECT_TRUE(ran_again) << "until it was told to stop once more";
}

TEST(EventLoop, WorkLeftBehindIsDestroyedWithTheLoop) {
  auto owned = std::make_shared<int>(1);
  {
    EventLoop loop;
    loop.post([owned] {});
    loop.call_after(kLong, [owned] {});
    EXPECT_EQ(owned.use_count(), 3);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace heatsink::net
