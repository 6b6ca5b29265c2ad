// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/shown_copies.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

TimePoint moment(int ms) { return TimePoint(Millis(ms)); }

TEST(ShownCopies, WithoutAnyThereIsNoFence) {
  const ShownCopies shown;
  EXPECT_EQ(shown.fence(0), TimePoint{});
  EXPECT_EQ(shown.fence(1), TimePoint{});
}

TEST(ShownCopies, TheSameNodeIsInOrder) {
  ShownCopies shown;
  shown.note(1, moment(10));
  shown.note(1, moment(5));
  EXPECT_EQ(shown.fence(1), TimePoint{});
  EXPECT_EQ(shown.fence(2), moment(10));
}

TEST(ShownCopies, EachNodeWaitsForTheYoungestOfTheOthers) {
  ShownCopies shown;
  shown.note(1, moment(10));
  shown.note(2, moment(20));
  EXPECT_EQ(shown.fence(1), moment(20));
  EXPECT_EQ(shown.fence(2), moment(10));
  EXPECT_EQ(shown.fence(3), moment(20));
  shown.note(3, moment(15));
  EXPECT_EQ(shown.fence(1), moment(20));
  EXPECT_EQ(shown.fence(2), moment(15));
  shown.note(1, moment(30));
  EXPECT_EQ(shown.fence(1), moment(20));
  EXPECT_EQ(shown.fence(2), moment(30));
  EXPECT_EQ(shown.latest(), moment(30));
}

}  // namespace
}  // namespace heatsink::proxy
