// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace heatsink::tui {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(Number, CountsKeepThreeDigits) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(3), "3");
  EXPECT_EQ(count_text(3.42), "3.4");
  EXPECT_EQ(count_text(9.97), "10");
  EXPECT_EQ(count_text(950), "950");
  EXPECT_EQ(count_text(999.4), "999");
  EXPECT_EQ(count_text(999.6), "1.0k");
  EXPECT_EQ(count_text(1234), "1.2k");
  EXPECT_EQ(count_text(34'512), "34.5k");
  EXPECT_EQ(count_text(345'120), "345k");
  EXPECT_EQ(count_text(999'600), "1.0M");
  EXPECT_EQ(rate_text(1234), "1.2k/s");
}

TEST(Number, NonsenseIsADash) {
  EXPECT_EQ(count_text(-1), "-");
  EXPECT_EQ(rate_text(std::nan("")), "-");
  EXPECT_EQ(count_text(std::nan("")), "-");
  EXPECT_EQ(count_text(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(percent_text(std::nan("")), "-");
}

TEST(Number, PercentNeverRoundsToAllOrNothing) {
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(0.0001), "<0.1 %");
  EXPECT_EQ(percent_text(0.345), "34.5 %");
  EXPECT_EQ(percent_text(0.9999), "99.9 %");
  EXPECT_EQ(percent_text(1), "100 %");
}

TEST(Number, AgesHaveTwoUnits) {
  EXPECT_EQ(age_text(seconds(-3)), "0s");
  EXPECT_EQ(age_text(seconds(59)), "59s");
  EXPECT_EQ(age_text(seconds(192)), "3m12s");
  EXPECT_EQ(age_text(hours(2) + seconds(300)), "2h05m");
  EXPECT_EQ(age_text(hours(99)), "4d03h");
}

TEST(Number, LatenciesHaveTheUnitThatFits) {
  using std::chrono::microseconds, std::chrono::milliseconds, std::chrono::nanoseconds;
  EXPECT_EQ(latency_text(nanoseconds(-1)), "0us");
  EXPECT_EQ(latency_text(nanoseconds(85'400)), "85us");
  EXPECT_EQ(latency_text(microseconds(999)), "999us");
  EXPECT_EQ(latency_text(nanoseconds(999'600)), "1.0ms");
  EXPECT_EQ(latency_text(microseconds(1234)), "1.2ms");
  EXPECT_EQ(latency_text(milliseconds(345)), "345ms");
  EXPECT_EQ(latency_text(milliseconds(2500)), "2.5s");
}

TEST(Number, SizesArePowersOf1024) {
  EXPECT_EQ(size_text(Bytes{512}), "512 B");
  EXPECT_EQ(size_text(kibibytes(4)), "4.0 KiB");
  EXPECT_EQ(size_text(Bytes{1'258'291}), "1.2 MiB");
  EXPECT_EQ(size_text(mebibytes(300)), "300 MiB");
}

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
