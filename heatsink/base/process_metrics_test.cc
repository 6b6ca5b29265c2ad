// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/process_metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace heatsink {
namespace {

TEST(ProcessMetrics, ALineOfProcIsRead) {
  const auto stat = parse_process_stat(
      "4711 (a ) name) S 1 4711 4711 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 987654 1000000 250 "
      "18446744073709551615 1 1 0\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->cpu_ticks, 200u);
  EXPECT_EQ(stat->start_ticks, 987654u);
  EXPECT_EQ(stat->virtual_bytes, 1000000u);
  EXPECT_EQ(stat->resident_pages, 250u);
}

TEST(ProcessMetrics, WhatIsNoSuchLineIsNone) {
  for (const char* text : {"", "4711 (name", "4711 (name) S 1 2 3"})
    EXPECT_FALSE(parse_process_stat(text).has_value()) << text;
}

TEST(ProcessMetrics, AreOfThisProcess) {
  std::map<std::string, double> values;
  for (const MetricSample& sample : process_samples())
    values[std::string(sample.row->name)] = sample.value;
  EXPECT_EQ(values.size(), process_rows().size());
  const auto now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(values["process_start_time_seconds"], now, 3600);
  EXPECT_GT(values["process_resident_memory_bytes"], 1e6);
  EXPECT_GE(values["process_virtual_memory_bytes"], values["process_resident_memory_bytes"]);
  EXPECT_GE(values["process_open_fds"], 3);
  EXPECT_GE(values["process_max_fds"], values["process_open_fds"]);
}

}  // namespace
}  // namespace heatsink
