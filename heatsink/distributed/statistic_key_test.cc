// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_key.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heatsink/resp/key_slot.h"

namespace heatsink::distributed {
namespace {

TEST(StatisticKey, NamesItsStatistic) {
  for (const std::string name : {"checkout", "", "{user}:x", "}", "a b\n"}) {
    for (std::uint32_t shard = 0; shard < kStatisticShards; ++shard)
      EXPECT_EQ(statistic_of_key(statistic_key(name, shard)), name);
  }
  EXPECT_EQ(statistic_key("checkout", 3), "heatsink:stats:{3:checkout}");
}

TEST(StatisticKey, OthersAreNone) {
  for (const char* key : {"", "checkout", "heatsink:stats:{", "heatsink:stats:{}",
                          "heatsink:stats:{9:a}", "heatsink:stats:{0a}", "heatsink:stats:{0:a"})
    EXPECT_FALSE(statistic_of_key(key)) << key;
}

TEST(StatisticKey, ShardsAreInSlotsOfTheirOwn) {
  for (const std::string name : {"checkout", "{user}:x"}) {
    std::set<std::uint16_t> slots;
    for (std::uint32_t shard = 0; shard < kStatisticShards; ++shard)
      slots.insert(resp::key_slot(statistic_key(name, shard)));
    EXPECT_EQ(slots.size(), kStatisticShards);
  }
}

TEST(StatisticKey, APatternFitsTheKeys) {
  EXPECT_EQ(statistic_key_pattern("check*"), "heatsink:stats:{[0-3]:check*}");
}

}  // namespace
}  // namespace heatsink::distributed
