// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/served_until.h"

#include <gtest/gtest.h>

namespace heatsink::client {
namespace {

constexpr TimePoint kFirstEnd{Nanos(5)}, kSecondEnd{Nanos(9)};

TEST(ServedUntil, EachServerHasItsOwnTime) {
  ServedUntil until(kFirstEnd);
  EXPECT_EQ(until.of(0), kFirstEnd);
  EXPECT_EQ(until.of(3), TimePoint::min());
  until.set(3, kSecondEnd);
  EXPECT_EQ(until.of(0), kFirstEnd);
  EXPECT_EQ(until.of(3), kSecondEnd);
  EXPECT_EQ(until.latest(), kSecondEnd);
}

TEST(ServedUntil, TheEndIsOfAllServers) {
  ServedUntil until(kFirstEnd);
  until.set(ServedUntil::kMax - 1, kSecondEnd);
  until.end_all();
  EXPECT_EQ(until.of(0), TimePoint::min());
  EXPECT_EQ(until.of(ServedUntil::kMax - 1), TimePoint::min());
  EXPECT_EQ(until.latest(), TimePoint::min());
}

}  // namespace
}  // namespace heatsink::client
