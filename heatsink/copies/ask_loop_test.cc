// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/ask_loop.h"

#include <gtest/gtest.h>

#include <thread>

namespace heatsink::copies {
namespace {

constexpr Nanos kLong = std::chrono::seconds(30);

TEST(AskLoop, WaitsForTheValue) {
  net::EventLoop loop;
  std::thread thread([&loop] { loop.run(); });
  const std::thread::id asked_in = thread.get_id();
  const auto answered_in = ask_loop<std::thread::id>(
      loop, kLong, [](const auto& answer) { answer(std::this_thread::get_id()); });
  EXPECT_EQ(answered_in, asked_in);
  // The answer may come in a later turn.
  const auto later = ask_loop<int>(loop, kLong, [&loop](const auto& answer) {
    loop.call_after(Millis(1), [answer] { answer(7); });
  });
  EXPECT_EQ(later, 7);
  loop.stop();
  thread.join();
}

TEST(AskLoop, WithoutAnAnswerThereIsNothingAndALateOneIsDropped) {
  net::EventLoop loop;  // does not run yet
  bool has_run = false;
  const auto answer_late = [&has_run](const auto& answer) {
    has_run = true;
    answer(7);
  };
  EXPECT_FALSE(ask_loop<int>(loop, Millis(1), answer_late).has_value());
  loop.turn(Nanos(0));
  EXPECT_TRUE(has_run);
}

TEST(AskLoop, WhatIsUrgentWaitsInAFullMailbox) {
  net::EventLoop loop;  // does not run yet
  while (loop.try_post([] {})) {
  }
  int runs = 0;
  const auto answer_late = [&runs](const auto& answer) {
    ++runs;
    answer(7);
  };
  static_cast<void>(ask_loop<int>(loop, Millis(1), answer_late));
  static_cast<void>(ask_loop<int>(loop, Millis(1), answer_late, Urgency::kInAnyCase));
  for (int turn = 0; turn < 100'000 && runs == 0; ++turn) loop.turn(Nanos(0));
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace heatsink::copies
