// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/metric.h"

#include <gtest/gtest.h>

namespace heatsink {
namespace {

TEST(MetricTable, HasEachNameOnceAndInOrder) {
  constexpr MetricRow kLate{"late_seconds", MetricKind::kHistogram, "How late."};
  constexpr MetricRow kHits{"hits_total", MetricKind::kCounter, "Hits.", "rule, outcome"};
  constexpr MetricRow kAgain = kHits;
  constexpr MetricRow kKeys{"keys", MetricKind::kGauge, "Keys."};
  EXPECT_EQ(to_markdown({&kLate, &kHits, &kKeys, &kAgain}),
            "| metric | type | labels | meaning |\n|---|---|---|---|\n"
            "| `hits_total` | counter | rule, outcome | Hits. |\n"
            "| `keys` | gauge |  | Keys. |\n"
            "| `late_seconds` | histogram |  | How late. |\n");
}

}  // namespace
}  // namespace heatsink
