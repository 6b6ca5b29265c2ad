// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/rows.h"

#include <gtest/gtest.h>

#include <limits>

namespace heatsink::observe {
namespace {

using detect::Temperature;

// How a key is judged that has between `low` and `high` of 20 000 accesses per second.
Temperature judged(double low, double high, double of_all = 20'000) {
  KeyRow row;
  row.count.key = "k";
  row.rate = {high, low, high};
  const report::Report report =
      make_report({row}, {.requests_rate = of_all}, "server", Nanos(1), Nanos(1), {});
  return report.keys.at(0).verdict.temperature;
}

TEST(Rows, HotIsWhatAProxyCallsHot) {
  EXPECT_EQ(judged(200, 300), Temperature::kHot) << "1 % of the traffic";
  EXPECT_EQ(judged(199, 300), Temperature::kWarm) << "not proven";
  EXPECT_EQ(judged(50, 60), Temperature::kWarm) << "a quarter of that";
  EXPECT_EQ(judged(49, 60), Temperature::kCold);
  EXPECT_EQ(judged(100, 100, 110), Temperature::kHot);
  EXPECT_EQ(judged(99, 99, 110), Temperature::kWarm) << "on an idle server most is little";
}

TEST(Rows, TheReportSaysWhatHotMeans) {
  const report::Report busy =
      make_report({}, {.requests_rate = 20'000}, "server", Nanos(1), Nanos(1), {});
  EXPECT_EQ(busy.hot, 200);
  EXPECT_EQ(busy.warm, 50);
  EXPECT_EQ(busy.hot_means, "proven to have at least 1 % of the traffic and 100/s");
  EXPECT_EQ(busy.quiet, "no key is proven to have 1 % of the traffic and 100/s");
  EXPECT_EQ(make_report({}, {.requests_rate = 1}, "server", Nanos(1), Nanos(1), {}).hot, 100);
}

TEST(Rows, ASourceOfBytesHasShares) {
  KeyRow row;
  row.rate = {1, 1, 1};
  row.dimension = detect::Dimension::kBytes;
  row.share = 0.01;
  EXPECT_EQ(make_report({row}, {}, "server", Nanos(1), Nanos(1), {}).keys[0].verdict.temperature,
            Temperature::kHot);
  row.share = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(make_report({row}, {}, "server", Nanos(1), Nanos(1), {}).keys[0].verdict.temperature,
            Temperature::kCold)
      << "an unknown share proves nothing";
}

}  // namespace
}  // namespace heatsink::observe
