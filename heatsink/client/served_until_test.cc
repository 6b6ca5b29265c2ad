// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/served_until.h"

#include <gtest/gtest.h>

namespace heatsink::client {
namespace {

constexpr TimePoint kSoon{Nanos(5)}, kLater{Nanos(9)};

TEST(ServedUntil, EachServerHasItsOwnTime) {
  ServedUntil until(kSoon);
  EXPECT_EQ(until.of(0), kSoon);
  EXPECT_EQ(until.of(3), TimePoint::min());
  until.set(3, kLater);
  EXPECT_EQ(until.of(0), kSoon);
  EXPECT_EQ(until.of(3), kLater);
  EXPECT_EQ(until.latest(), kLater);
}

TEST(ServedUntil, TheEndIsOfAllServers) {
  ServedUntil until(kSoon);
  until.set(ServedUntil::kMax - 1, kLater);
  until.end_all();
  EXPECT_EQ(until.of(0), TimePoint::min());
  EXPECT_EQ(until.of(ServedUntil::kMax - 1), TimePoint::min());
  EXPECT_EQ(until.latest(), TimePoint::min());
}

}  // namespace
}  // namespace heatsink::client
