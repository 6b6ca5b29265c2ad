// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/metrics_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace heatsink::admin {
namespace {

constexpr MetricRow kHits{"heatsink_hits_total", MetricKind::kCounter,
                          "Reads answered from a local copy."};
constexpr MetricRow kClients{"heatsink_clients", MetricKind::kGauge, "Client connections now."};
constexpr MetricRow kRefused{"heatsink_hits_refused_total", MetricKind::kCounter,
                             "Local reads refused."};

TEST(MetricsText, OneFamilyPerRowWithHelpAndType) {
  EXPECT_EQ(metrics_text({{&kHits, 3},
                          {&kRefused, 1, {{"reason", "fence"}}},
                          {&kClients, 50},
                          {&kRefused, 2, {{"reason", "lease"}}}}),
            "# HELP heatsink_hits_total Reads answered from a local copy.\n"
            "# TYPE heatsink_hits_total counter\n"
            "heatsink_hits_total 3\n"
            "# HELP heatsink_hits_refused_total Local reads refused.\n"
            "# TYPE heatsink_hits_refused_total counter\n"
            "heatsink_hits_refused_total{reason=\"fence\"} 1\n"
            "heatsink_hits_refused_total{reason=\"lease\"} 2\n"
            "# HELP heatsink_clients Client connections now.\n"
            "# TYPE heatsink_clients gauge\n"
            "heatsink_clients 50\n");
}

TEST(MetricsText, ANameIsDescribedOnceWhateverItsRows) {
  static constexpr MetricRow kAgain = kRefused;
  EXPECT_EQ(metrics_text({{&kRefused, 1, {{"reason", "fence"}}},
                          {&kClients, 50},
                          {&kAgain, 2, {{"reason", "lease"}}}}),
            "# HELP heatsink_hits_refused_total Local reads refused.\n"
            "# TYPE heatsink_hits_refused_total counter\n"
            "heatsink_hits_refused_total{reason=\"fence\"} 1\n"
            "heatsink_hits_refused_total{reason=\"lease\"} 2\n"
            "# HELP heatsink_clients Client connections now.\n"
            "# TYPE heatsink_clients gauge\n"
            "heatsink_clients 50\n");
}

TEST(MetricsText, LargeCountsKeepEveryDigit) {
  const std::string text = metrics_text({{&kHits, 9007199254740991.0}});
  EXPECT_NE(text.find("heatsink_hits_total 9007199254740991\n"), std::string::npos) << text;
}

TEST(MetricsText, LabelValuesCannotBreakTheFormat) {
  const std::string text = metrics_text({{&kRefused, 1, {{"reason", "a\"\nb 1\xff"}}}});
  EXPECT_NE(text.find("{reason=\"a\\\\\\\"\\\\nb 1\\\\xff\"} 1\n"), std::string::npos) << text;
}

TEST(MetricsText, AHistogramHasItsBucketsSumAndCount) {
  static constexpr MetricRow kLate{"heatsink_late_seconds", MetricKind::kHistogram, "How late."};
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(metrics_text({{&kLate, 3.5, {}, {{0.01, 4}, {1, 6}, {infinite, 7}}}}),
            "# HELP heatsink_late_seconds How late.\n"
            "# TYPE heatsink_late_seconds histogram\n"
            "heatsink_late_seconds_count 7\n"
            "heatsink_late_seconds_sum 3.5\n"
            "heatsink_late_seconds_bucket{le=\"0.01\"} 4\n"
            "heatsink_late_seconds_bucket{le=\"1\"} 6\n"
            "heatsink_late_seconds_bucket{le=\"+Inf\"} 7\n");
}

TEST(MetricsText, ASampleMayHaveSeveralLabels) {
  EXPECT_NE(metrics_text({{&kClients, 2, {{"key", "k"}, {"db", "3"}}}})
                .find("heatsink_clients{key=\"k\",db=\"3\"} 2\n"),
            std::string::npos);
}

TEST(MetricsText, NoSamplesNoText) { EXPECT_EQ(metrics_text({}), ""); }

}  // namespace
}  // namespace heatsink::admin
