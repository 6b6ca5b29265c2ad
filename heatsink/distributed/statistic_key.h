// SPDX-License-Identifier: Apache-2.0
// Under which keys of the server a statistic is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heatsink::distributed {

// Every writer writes to one of so many keys, and a reader reads all: so that in a cluster no
// statistic is one node's load. A constant, because who reads with another number than others wrote
// with would miss some, and cannot know.
inline constexpr std::uint32_t kStatisticShards = 4;

// Of a statistic's name, which may be any bytes.
inline constexpr std::size_t kStatisticNameBytesMax = 512;

// "heatsink:stats:{0:checkout}". The braces come before any that the name has, so that shards of
// one name are in different slots of a cluster.
std::string statistic_key(std::string_view name, std::uint32_t shard);

// Nothing: the key is none of a statistic's.
std::optional<std::string_view> statistic_of_key(std::string_view key);

// What SCAN is to look for: the keys of statistics whose names fit a glob of the server's.
std::string statistic_key_pattern(std::string_view name_pattern);

}  // namespace heatsink::distributed
