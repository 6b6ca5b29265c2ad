// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/absent_max.h"

#include <gtest/gtest.h>

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

KeyCount count(std::uint64_t hash, std::uint64_t high) {
  KeyCount out;
  out.hash = KeyHash{hash};
  out.high = high;
  return out;
}

std::vector<Verdict> shown(const std::vector<std::uint64_t>& hashes) {
  std::vector<Verdict> out;
  for (const std::uint64_t hash : hashes) out.emplace_back().count.hash = KeyHash{hash};
  return out;
}

// Ten seconds: keys 1 and 2 are counted; any other key has at most 30.
Summary summary() {
  Summary out;
  out.window = out.covered = seconds(10);
  out.settled = true;
  out.absent_max = 30;
  out.keys = {count(1, 500), count(2, 80)};
  return out;
}

TEST(AbsentMax, OfCountedKeysThoseThatAreShownAreLeftOut) {
  EXPECT_EQ(absent_max(summary(), {}), 50);
  EXPECT_EQ(absent_max(summary(), shown({1})), 8);
}

TEST(AbsentMax, WhatIsNotCountedOneByOneIsBounded) {
  EXPECT_EQ(absent_max(summary(), shown({1, 2})), 3);
  EXPECT_EQ(absent_max(summary(), shown({1, 2, 7})), 3);  // hot by another window alone
  Summary nothing = summary();
  nothing.keys.clear();
  nothing.absent_max = 0;
  EXPECT_EQ(absent_max(nothing, {}), 0);
}

TEST(AbsentMax, IsUnknownWhereTheWindowCountsNoRequestsOrHasNotBegun) {
  Summary bytes = summary();
  bytes.dimension = Dimension::kBytes;
  EXPECT_EQ(absent_max(bytes, {}), std::nullopt);
  EXPECT_EQ(absent_max(Summary{}, {}), std::nullopt);
}

}  // namespace
}  // namespace heatsink::detect
