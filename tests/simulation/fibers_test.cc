// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fibers.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace heatsink::simulation {
namespace {

class FibersTest : public testing::Test {
 protected:
  void pass(Nanos time) { scheduler_.run_until(scheduler_.now() + time); }

  Scheduler scheduler_{5};
  Network network_{scheduler_, {}};
  Fibers fibers_{scheduler_, std::chrono::microseconds(1), std::chrono::microseconds(50)};
  FiberRuntime runtime_{fibers_, network_, "process"};
};

TEST_F(FibersTest, APauseTakesVirtualTime) {
  TimePoint woke{};
  const TimePoint end = scheduler_.now() + std::chrono::hours(1);
  fibers_.spawn([&] {
    fibers_.pause_until(end);
    woke = scheduler_.now();
  });
  pass(std::chrono::hours(2));
  EXPECT_EQ(woke, end);
  EXPECT_EQ(fibers_.alive(), 0U);
}

TEST_F(FibersTest, AConditionWakesOneOrAllOrByTime) {
  const auto condition = runtime_.make_condition();
  std::mutex mutex;
  int woken = 0;
  for (int i = 0; i < 4; ++i) {
    fibers_.spawn([&, i] {
      std::unique_lock lock(mutex);
      condition->wait_until(lock, i == 3 ? scheduler_.now() + Millis(50) : TimePoint::max());
      ++woken;
    });
  }
  pass(Millis(10));
  EXPECT_EQ(woken, 0);
  pass(Millis(90));
  EXPECT_EQ(woken, 1) << "by time";
  condition->notify_one();
  pass(Millis(10));
  EXPECT_EQ(woken, 2);
  condition->notify_all();
  pass(Millis(10));
  EXPECT_EQ(woken, 4);
}

TEST_F(FibersTest, AStoppedOneIsLate) {
  TimePoint woke{};
  const auto fiber = fibers_.spawn([&] {
    fibers_.pause_for(Millis(10));
    woke = scheduler_.now();
  });
  const TimePoint start = scheduler_.now();
  pass(Millis(5));
  fiber->stop_for(Millis(100));
  pass(std::chrono::seconds(1));
  EXPECT_EQ(woke, start + Millis(105));
}

TEST_F(FibersTest, EachHandlesItsOwnException) {
  std::string caught;
  for (const char* const name : {"a", "b"}) {
    fibers_.spawn([&, name] {
      try {
        throw std::runtime_error(name);
      } catch (const std::exception&) {
        fibers_.pause_for(Millis(name[0] == 'a' ? 20 : 10));
        try {
          throw;  // what it handles itself, whatever others have thrown meanwhile
        } catch (const std::exception& again) {
          caught += again.what();
        }
      }
    });
  }
  pass(Millis(100));
  EXPECT_EQ(caught, "ba");
}

TEST_F(FibersTest, AThreadIsJoinedWhenItIsOver) {
  bool has_joined = false;
  fibers_.spawn([&] {
    const auto thread = runtime_.spawn("worker", [&] { fibers_.pause_for(Millis(10)); });
    EXPECT_EQ(runtime_.threads("worker").size(), 1U);
    EXPECT_TRUE(runtime_.threads("other").empty());
    thread->join();
    has_joined = true;
  });
  pass(Millis(5));
  EXPECT_FALSE(has_joined);
  pass(Millis(10));
  EXPECT_TRUE(has_joined);
}

// As ServerLink does: an event loop that runs until it is stopped, in a thread of its own.
TEST_F(FibersTest, ALoopRunsInOne) {
  net::EventLoop loop(runtime_.make_poller());
  std::string ran;
  fibers_.spawn([&] {
    loop.call_after(Millis(10), [&] { ran += 't'; });
    loop.run();
    ran += 'e';
  });
  pass(Millis(5));
  loop.post([&] { ran += 'p'; });
  pass(Millis(1));
  EXPECT_EQ(ran, "p");
  pass(Millis(10));
  EXPECT_EQ(ran, "pt");
  loop.stop();
  pass(Millis(1));
  EXPECT_EQ(ran, "pte");
}

}  // namespace
}  // namespace heatsink::simulation
