// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/heat_writer.h"

#include <gtest/gtest.h>

#include <cmath>

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
    writer_.write(counted, load_, workers);
  }

  heat::History history_;
  policy::KeyDisplay shown_;
  DurationHistogram one_, other_;
  LoadWindow::Span load_{};
  HeatWriter writer_{shown_, history_};
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

TEST_F(HeatWriterTest, RedactedNamesStayHidden) {
  const policy::KeyDisplay hidden = policy::KeyDisplay::hashed("secret");
  HeatWriter writer(hidden, history_);
  writer.write(counted_at(101, "user:42"), load_, {});
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
