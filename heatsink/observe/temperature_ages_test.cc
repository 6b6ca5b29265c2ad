// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/temperature_ages.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/testing/times.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {
namespace {

using detect::Temperature;

report::KeyReport row(const std::string& key, Temperature temperature, std::uint32_t db = 0) {
  report::KeyReport out;
  out.verdict.count.key = key;
  out.verdict.count.db = db;
  out.verdict.temperature = temperature;
  return out;
}

TEST(TemperatureAges, IsWhenAKeyWasFirstSeenAsHotAsItIs) {
  TemperatureAges since;
  const auto told = [&since](std::vector<report::KeyReport> rows, int ms) {
    report::Report report;
    report.keys = std::move(rows);
    since.tell(report, at(ms));
    return report.keys.front().verdict.since;
  };
  EXPECT_EQ(told({row("k", Temperature::kWarm)}, 10), at(10));
  EXPECT_EQ(told({row("k", Temperature::kWarm), row("other", Temperature::kHot)}, 20), at(10));
  EXPECT_EQ(told({row("k", Temperature::kHot)}, 30), at(30));
  EXPECT_EQ(told({row("k", Temperature::kHot)}, 90), at(30));
  EXPECT_EQ(told({row("k", Temperature::kHot, 1)}, 95), at(95));  // of another database
  EXPECT_EQ(told({row("k", Temperature::kHot)}, 100), at(100));   // it was gone meanwhile
}

}  // namespace
}  // namespace heatsink::observe
