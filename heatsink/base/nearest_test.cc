// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace heatsink {
namespace {

TEST(Nearest, DistanceCountsSingleSlips) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("top", ""), 3u);
  EXPECT_EQ(edit_distance("window", "window"), 0u);
  EXPECT_EQ(edit_distance("windw", "window"), 1u);
  EXPECT_EQ(edit_distance("windoww", "window"), 1u);
  EXPECT_EQ(edit_distance("wimdow", "window"), 1u);
  EXPECT_EQ(edit_distance("widnow", "window"), 1u) << "two letters swapped are one slip";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsWhatWasMeantOrNothing) {
  const std::vector<std::string> known{"detection.window", "detection.hot-qps", "top", "proxy"};
  EXPECT_EQ(nearest("detection.hot_qps", known), "detection.hot-qps");
  EXPECT_EQ(nearest("tpo", known), "top");
  EXPECT_EQ(nearest("prxy", known), "proxy");
  EXPECT_EQ(nearest("frobnicate", known), "");
  EXPECT_EQ(nearest("top", {}), "");
}

TEST(Nearest, HugeWordsCostNoMoreThanTheirFirstBytes) {
  const std::string huge(1 << 20, 'x');
  EXPECT_EQ(edit_distance(huge, huge), 0u);
  EXPECT_EQ(edit_distance(huge, ""), 128u);
}

TEST(Nearest, NobodyMeantAWordOfAnotherLength) {
  const std::vector<std::string> known{"detection.window", "top"};
  EXPECT_EQ(nearest(std::string(400, 'x'), known), "");
  EXPECT_EQ(nearest("detection.window" + std::string(400, 'x'), known), "");
}

}  // namespace
}  // namespace heatsink
