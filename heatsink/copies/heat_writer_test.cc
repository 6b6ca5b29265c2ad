// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/heat_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace heatsink::copies {
namespace {

using std::chrono::seconds;

detect::Summary counted_at(std::int64_t second, std::string key) {
  detect::Summary summary;
  summary.at = TimePoint(seconds(second));
  summary.window = seconds(10);
  summary.requests = summary.reads = 100;
  detect::KeyCount count;
  count.key = std::move(key);
  count.low = count.high = count.reads = 100;
  summary.keys = {count};
  return summary;
}

heat::HeatMap all_of(const heat::History& history) {
  return history.read({.from = TimePoint(seconds(1)), .to = TimePoint(seconds(300))});
}

class HeatWriterTest : public ::testing::Test {
 protected:
  void write(const detect::Summary& counted) {
    const DurationHistogram* const workers[] = {&one_, &other_};
    const SampledSizes* const replies[] = {sizes_.get()};
    writer_.write(counted,
                  {.load = load_, .cpu = cpu_, .latencies = workers, .reply_sizes = replies},
                  counted.at);
  }

  heat::History history_;
  policy::KeyDisplay shown_;
  topology::ClusterDirectory cluster_{net::RedisUrl{}};
  topology::SlotCounts slot_counts_;
  DurationHistogram one_, other_;
  LoadWindow::Span load_{};
  std::optional<ServerCpu::Figure> cpu_;
  std::unique_ptr<SampledSizes> sizes_ = std::make_unique<SampledSizes>(1);
  HeatWriter writer_{shown_, cluster_, slot_counts_, history_};
};

TEST_F(HeatWriterTest, ASecondHasItsOwnLatencies) {
  for (int i = 0; i < 98; ++i) one_.observe(Nanos(40'000));
  other_.observe(Millis(9));
  other_.observe(Millis(9));
  write(counted_at(101, "a"));
  for (int i = 0; i < 10; ++i) other_.observe(Nanos(800'000));
  write(counted_at(102, "a"));
  write(counted_at(103, "a"));
  const heat::HeatMap map = all_of(history_);
  ASSERT_EQ(map.steps.size(), 3U);
  EXPECT_LE(map.steps[0].totals[6], 50e-6F);
  EXPECT_GE(map.steps[0].totals[7], 5e-3F);
  EXPECT_LE(map.steps[0].totals[7], 10e-3F);
  EXPECT_NEAR(map.steps[1].totals[6], 750e-6, 1e-6);
  EXPECT_TRUE(std::isnan(map.steps[2].totals[6])) << "nothing was answered in that second";
}

TEST_F(HeatWriterTest, TheServersCpuTimeIsOfTheSecond) {
  write(counted_at(101, "a"));
  cpu_ = ServerCpu::Figure{.cores = 0.25, .spared_cores = -0.5};
  write(counted_at(102, "a"));
  const heat::HeatMap map = all_of(history_);
  ASSERT_EQ(map.steps.size(), 2U);
  EXPECT_TRUE(std::isnan(map.steps[0].totals[10])) << "the server has not told it yet";
  EXPECT_TRUE(std::isnan(map.steps[0].totals[11]));
  EXPECT_EQ(map.steps[1].totals[10], 0.25F);
  EXPECT_EQ(map.steps[1].totals[11], -0.5F) << "the proxy costs the server more than it spares";
}

// 100 reads in 10 s.
TEST_F(HeatWriterTest, BytesOfReadsAtTheServerAreOfASampledReply) {
  detect::Summary counted = counted_at(101, "a");
  counted.keys[0].hash = KeyHash{42};
  sizes_->add(KeyHash{42}, 20'480);
  write(counted);
  const heat::HeatMap map = all_of(history_);
  EXPECT_NEAR(heat::bytes_of(map.rows[0].bytes[0]), 204'800, 0.045 * 204'800);
  EXPECT_EQ(map.steps[0].totals[9], 204'800);
}

TEST_F(HeatWriterTest, BytesOfHitsAndWritesAreCounted) {
  detect::Summary counted = counted_at(101, "a");
  counted.hits = counted.keys[0].hits = 50;
  counted.bytes = counted.keys[0].bytes = 50 * 10'240;
  write(counted);
  const heat::HeatMap map = all_of(history_);
  EXPECT_NEAR(heat::bytes_of(map.rows[0].bytes[0]), 102'400, 0.045 * 102'400)
      << "without a sample the other 50 are as large as these";
}

TEST_F(HeatWriterTest, CountsWithAllBytesAreNotAddedTo) {
  detect::Summary counted = counted_at(101, "a");
  counted.bytes = counted.keys[0].bytes = 102'400;
  writer_.write(counted, {}, counted.at);
  EXPECT_EQ(all_of(history_).steps[0].totals[9], 10'240);
}

TEST_F(HeatWriterTest, RedactedNamesStayHidden) {
  const policy::KeyDisplay hidden = policy::KeyDisplay::hashed("secret");
  HeatWriter writer(hidden, cluster_, slot_counts_, history_);
  writer.write(counted_at(101, "user:42"), {}, TimePoint(seconds(101)));
  const heat::HeatMap map = all_of(history_);
  ASSERT_EQ(map.rows.size(), 1U);
  EXPECT_EQ(map.rows[0].identity.name, hidden.show("user:42"));
}

TEST_F(HeatWriterTest, TheSameCountsAreWrittenOnce) {
  write(counted_at(101, "a"));
  write(counted_at(101, "a"));
  EXPECT_EQ(all_of(history_).steps.size(), 1U);
}

}  // namespace
}  // namespace heatsink::copies
