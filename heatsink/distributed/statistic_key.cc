// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_key.h"

namespace heatsink::distributed {
namespace {

constexpr std::string_view kPrefix = "heatsink:stats:{";
static_assert(kStatisticShards <= 10, "a shard is one digit");

}  // namespace

std::string statistic_key(std::string_view name, std::uint32_t shard) {
  std::string key(kPrefix);
  key += static_cast<char>('0' + shard);
  key += ':';
  key += name;
  key += '}';
  return key;
}

std::optional<std::string_view> statistic_of_key(std::string_view key) {
  if (!key.starts_with(kPrefix) || !key.ends_with('}')) return std::nullopt;
  const std::string_view rest = key.substr(kPrefix.size());
  if (rest.size() < 3 || rest[0] < '0' || rest[0] >= static_cast<char>('0' + kStatisticShards) ||
      rest[1] != ':')
    return std::nullopt;
  return rest.substr(2, rest.size() - 3);
}

std::string statistic_key_pattern(std::string_view name_pattern) {
  std::string pattern(kPrefix);
  pattern += "[0-";
  pattern += static_cast<char>('0' + kStatisticShards - 1);
  pattern += "]:";
  pattern += name_pattern;
  pattern += '}';
  return pattern;
}

}  // namespace heatsink::distributed
