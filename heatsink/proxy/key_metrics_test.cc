// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/key_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "heatsink/base/printable.h"
#include "heatsink/report/report.h"

namespace heatsink::proxy {
namespace {

using detect::Temperature;

void add(report::Report& report, const std::string& key, Temperature temperature,
         std::uint32_t db = 0) {
  report::KeyReport out;
  out.verdict.count.key = key;
  out.verdict.count.db = db;
  out.verdict.count.hits = 900;
  out.verdict.count.reads = 1000;
  out.verdict.count.writes = 10;
  out.spared = 860;  // 900 hits, and 20 fills of two commands
  out.verdict.temperature = temperature;
  out.verdict.measure.window = std::chrono::seconds(10);
  report.keys.push_back(std::move(out));
}

std::vector<std::string> keys_of(const report::Report& report, std::size_t keys_max) {
  MetricSamples samples;
  append_key_samples(samples, report, keys_max);
  std::vector<std::string> keys;
  for (const MetricSample& sample : samples) {
    if (sample.row->name == "heatsink_key_local_hits_per_second")
      keys.push_back(sample.labels.at(0).second);
  }
  return keys;
}

TEST(KeyMetrics, AreRatesOverTheKeysWindow) {
  report::Report report;
  add(report, "k", Temperature::kHot, 3);
  MetricSamples samples;
  append_key_samples(samples, report, 10);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].value, 90);
  EXPECT_EQ(samples[1].value, 100);
  EXPECT_EQ(samples[2].value, 1);
  EXPECT_EQ(samples[3].value, 15) << "what the servers got, fills included";
  EXPECT_EQ(samples[0].labels, (MetricLabels{{"key", "k"}, {"db", "3"}}));
}

// The window moves in slots, so its counts cover between nine tenths and all of it.
TEST(KeyMetrics, DivideByTheTimeThatTheCountsCover) {
  report::Report report;
  add(report, "k", Temperature::kHot);
  report.keys[0].covered = std::chrono::seconds(9);
  MetricSamples samples;
  append_key_samples(samples, report, 10);
  EXPECT_EQ(samples.at(0).value, 100);
  EXPECT_NEAR(samples.at(3).value, 150 / 9.0, 1e-9);
}

TEST(KeyMetrics, AreOfHotKeysOnlyAndOfSoManyAtMost) {
  report::Report report;
  add(report, "a", Temperature::kHot);
  add(report, "b", Temperature::kWriteHot);
  add(report, "c", Temperature::kWarm);
  add(report, "d", Temperature::kHot);
  EXPECT_EQ(keys_of(report, 10), (std::vector<std::string>{"a", "b", "d"}));
  EXPECT_EQ(keys_of(report, 2), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(keys_of(report, 0).empty());
}

TEST(KeyMetrics, FillsOfMoreThanTheHitsAreLoad) {
  report::Report report;
  add(report, "k", Temperature::kHot);
  report.keys[0].spared = -90;
  MetricSamples samples;
  append_key_samples(samples, report, 10);
  EXPECT_EQ(samples.at(3).value, 110);
  report.keys[0].spared = 2000;  // counted a moment later than the accesses
  samples.clear();
  append_key_samples(samples, report, 10);
  EXPECT_EQ(samples.at(3).value, 0);
}

// Two truncated names could be equal.
TEST(KeyMetrics, NamesThatCannotBeShownWholeAreLeftOut) {
  report::Report report;
  add(report, std::string(kPrintableBytesMax, 'x'), Temperature::kHot);
  add(report, std::string(kPrintableBytesMax + 1, 'x'), Temperature::kHot);
  EXPECT_EQ(keys_of(report, 10).size(), 1u);
  report.keys[0].verdict.count.key_truncated = true;
  EXPECT_TRUE(keys_of(report, 10).empty());
}

}  // namespace
}  // namespace heatsink::proxy
