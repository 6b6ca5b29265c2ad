// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_stats.h"

#include <gtest/gtest.h>

namespace heatsink::topology {
namespace {

TEST(SlotLoad, IsWhatHappenedBetween) {
  const SlotStats from{{{1, 0, 100, 0}, {2, 0, 50, 10}, {3, 0, 500, 0}}, true};
  const SlotStats to{{{1, 0, 200, 0}, {2, 0, 350, 1010}, {3, 0, 5, 0}, {4, 0, 9, 9}}, true};
  const std::vector<SlotLoad> load = load_between(from, to, 2);
  ASSERT_EQ(load.size(), 2u);  // 3 was reset, 4 has just come
  EXPECT_EQ(load[0].slot, 2);
  EXPECT_EQ(load[0].cpu_share, 0.75);
  EXPECT_EQ(load[0].bytes_rate, 500);
  EXPECT_TRUE(load_between(from, to, 0).empty());
}

TEST(SlotStats, SayWhatTheServerCounts) {
  const auto parsed = [](std::string_view wire) {
    resp::Value value;
    std::size_t used = 0;
    EXPECT_EQ(resp::parse_value(wire, value, used), resp::ValueStatus::kValue);
    return parse_slot_stats(value);
  };
  const auto keys = parsed("*1\r\n*2\r\n:7\r\n%1\r\n$9\r\nkey-count\r\n:3\r\n");
  ASSERT_TRUE(keys);
  EXPECT_FALSE(keys->has_work);
  EXPECT_FALSE(keys->has_bytes);
  const auto cpu = parsed("*1\r\n*2\r\n:7\r\n*2\r\n$8\r\ncpu-usec\r\n:30\r\n");
  ASSERT_TRUE(cpu);
  EXPECT_TRUE(cpu->has_work);
  EXPECT_FALSE(cpu->has_bytes);
  EXPECT_EQ(cpu->slots.at(0).cpu_us, 30);
  EXPECT_FALSE(parsed("*1\r\n*2\r\n:16384\r\n*0\r\n"));
  EXPECT_FALSE(parsed("+OK\r\n"));
}

}  // namespace
}  // namespace heatsink::topology
