// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/connection_rate.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::proxy {
namespace {

using Verdict = ConnectionRate::Verdict;

int admitted(ConnectionRate& rate, const std::string& peer, int tries, TimePoint now) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += rate.admit(peer, now) == Verdict::kAdmit ? 1 : 0;
  return count;
}

TEST(ConnectionRate, WithoutLimitsAllMayCome) {
  ConnectionRate rate({});
  EXPECT_EQ(admitted(rate, "10.0.0.1:1", 10'000, at(0)), 10'000);
  EXPECT_EQ(rate.networks(), 0u);
}

TEST(ConnectionRate, ASecondsWorthAtOnceAndThenAtItsPace) {
  ConnectionRate rate({.in_all = 10});
  EXPECT_EQ(admitted(rate, "10.0.0.1:1", 50, at(0)), 10);
  EXPECT_EQ(rate.admit("10.0.0.2:1", at(99)), Verdict::kTooManyInAll);
  EXPECT_EQ(admitted(rate, "10.0.0.2:1", 5, at(100)), 1);
  EXPECT_EQ(admitted(rate, "10.0.0.2:1", 50, at(600)), 5);
  EXPECT_EQ(admitted(rate, "10.0.0.2:1", 50, at(60'000)), 10) << "no more than a second's worth";
}

TEST(ConnectionRate, EachNetworkHasItsOwn) {
  ConnectionRate rate({.per_network = 5});
  EXPECT_EQ(admitted(rate, "10.0.0.1:1", 50, at(0)), 5);
  EXPECT_EQ(rate.admit("10.0.0.1:2", at(0)), Verdict::kTooManyOfNetwork) << "another port";
  EXPECT_EQ(admitted(rate, "10.0.0.2:1", 50, at(0)), 5);
  EXPECT_EQ(admitted(rate, "[2001:db8:1:2::1]:1", 50, at(0)), 5);
  EXPECT_EQ(admitted(rate, "[2001:db8:1:2:ffff::9]:1", 50, at(0)), 0) << "the same /64";
  EXPECT_EQ(admitted(rate, "[2001:db8:1:3::1]:1", 50, at(0)), 5);
  EXPECT_EQ(admitted(rate, "unix:", 50, at(0)), 50) << "no network";
}

TEST(ConnectionRate, WhatANetworkIsRefusedDoesNotUseUpWhatAllMay) {
  ConnectionRate rate({.in_all = 10, .per_network = 2});
  EXPECT_EQ(admitted(rate, "10.0.0.1:1", 1000, at(0)), 2);
  EXPECT_EQ(admitted(rate, "10.0.0.2:1", 1000, at(0)), 2);
  EXPECT_EQ(admitted(rate, "10.0.0.3:1", 2, at(0)), 2);
}

TEST(ConnectionRate, ManyNetworksTakeABoundedTable) {
  ConnectionRate rate({.per_network = 1});
  const auto address = [](std::size_t i) {
    return "10." + std::to_string(i >> 16) + "." + std::to_string((i >> 8) & 255) + "." +
           std::to_string(i & 255) + ":1";
  };
  for (std::size_t i = 0; i < ConnectionRate::kNetworksMax; ++i)
    ASSERT_EQ(rate.admit(address(i), at(0)), Verdict::kAdmit);
  EXPECT_EQ(rate.admit("11.0.0.1:1", at(0)), Verdict::kAdmit) << "the first of the others";
  EXPECT_EQ(rate.admit("11.0.0.2:1", at(0)), Verdict::kTooManyOfNetwork) << "they share a place";
  EXPECT_EQ(rate.networks(), ConnectionRate::kNetworksMax);
  EXPECT_EQ(rate.admit("11.0.0.2:1", at(1000)), Verdict::kAdmit);
  EXPECT_EQ(rate.networks(), 1u) << "those that have used up nothing are forgotten";
}

}  // namespace
}  // namespace heatsink::proxy
