// SPDX-License-Identifier: Apache-2.0
// Names the server's keys of a statistic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heatsink::distributed {

// Each writer uses one of this many keys, and a reader reads all, so that in a cluster no statistic
// loads only one node. A constant, because a reader with another number than the writers would miss
// data without noticing.
inline constexpr std::uint32_t kStatisticShards = 4;

// Length of a statistic's name, which may contain any bytes.
inline constexpr std::size_t kStatisticNameBytesMax = 512;

// "heatsink:stats:{0:checkout}". These braces come before any in the name, so that the shards of
// one name are in different slots of a cluster.
std::string statistic_key(std::string_view name, std::uint32_t shard);

// Nothing: the key does not belong to a statistic.
std::optional<std::string_view> statistic_of_key(std::string_view key);

// The SCAN pattern for the keys of statistics whose names match a glob of the server's.
std::string statistic_key_pattern(std::string_view name_pattern);

}  // namespace heatsink::distributed
