// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_loss.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;

capture::CaptureCounters counters(std::uint64_t dropped, std::uint64_t bytes_lost) {
  capture::CaptureCounters out;
  out.packets = 3000;
  out.commands = 1000;
  out.request_segments = 500;
  out.request_bytes = 100'000;
  out.dropped_by_kernel = dropped;
  out.request_bytes_lost = bytes_lost;
  return out;
}

TEST(CaptureLoss, NothingLostIsNothing) {
  CaptureLoss loss(seconds(10));
  EXPECT_EQ(loss.commands(), 0);
  EXPECT_EQ(loss.commands_max(), 0);
  loss.mark({}, kStart);
  loss.mark(counters(0, 0), kStart + seconds(1));
  EXPECT_EQ(loss.commands(), 0);
}

TEST(CaptureLoss, IsTheGreaterOfPacketsAndBytes) {
  CaptureLoss loss(seconds(10));
  loss.mark({}, kStart);
  loss.mark(counters(300, 0), kStart + seconds(1));
  EXPECT_DOUBLE_EQ(loss.commands(), 100);      // three packets a command
  EXPECT_DOUBLE_EQ(loss.commands_max(), 600);  // each a request, with two of them
  loss.mark(counters(300, 50'000), kStart + seconds(2));
  EXPECT_DOUBLE_EQ(loss.commands(), 500);  // a hundred bytes a command
  EXPECT_DOUBLE_EQ(loss.commands_max(), 600);
}

TEST(CaptureLoss, RepliesThatNobodyMatchesAreNoLoss) {
  CaptureLoss loss(seconds(10));
  loss.mark({}, kStart);
  capture::CaptureCounters seen = counters(0, 0);
  seen.bytes_skipped = 50'000;
  loss.mark(seen, kStart + seconds(1));
  EXPECT_EQ(loss.commands(), 0);
  seen.request_bytes_skipped = 1000;
  loss.mark(seen, kStart + seconds(2));
  EXPECT_DOUBLE_EQ(loss.commands(), 10);
}

TEST(CaptureLoss, LeavesWithTheWindow) {
  CaptureLoss loss(seconds(10));
  loss.mark({}, kStart);
  for (int i = 1; i <= 11; ++i) loss.mark(counters(300, 0), kStart + seconds(i));
  EXPECT_EQ(loss.commands(), 0);
}

TEST(CaptureLoss, ManyMarksAreAsGoodAsFew) {
  CaptureLoss loss(seconds(10));
  loss.mark({}, kStart);
  for (int i = 0; i < 1000; ++i) loss.mark(counters(300, 0), kStart + Millis(5) * i);
  EXPECT_DOUBLE_EQ(loss.commands(), 100);
  for (int i = 1000; i < 3000; ++i) loss.mark(counters(300, 0), kStart + Millis(5) * i);
  EXPECT_EQ(loss.commands(), 0);
}

}  // namespace
}  // namespace heatsink::observe
