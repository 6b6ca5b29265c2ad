// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/sparkline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace heatsink::tui {
namespace {

TEST(Sparkline, NewestAtTheRightOnAFixedScale) {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, 7, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, 7, 3), "▆▇█");
  EXPECT_EQ(sparkline(values, 7, 10), "  ▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, 14, 2), "▄▅");
}

TEST(Sparkline, ValuesOutsideStayAtTheEdges) {
  const std::vector<double> values{-1, std::nan(""), 1e300};
  EXPECT_EQ(sparkline(values, 10, 3), "▁▁█");
  EXPECT_EQ(sparkline(values, 0, 3), "▁▁▁");
  EXPECT_EQ(sparkline(values, 10, 0), "");
  EXPECT_EQ(sparkline({}, 10, 2), "  ");
}

}  // namespace
}  // namespace heatsink::tui
