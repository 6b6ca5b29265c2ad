// SPDX-License-Identifier: Apache-2.0
// The names of the keys on the server through which the instances of a fleet know each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heatsink::fleet {

inline constexpr std::string_view kKeyPrefix = "heatsink:fleet:";

// A key that heatsink itself reads and writes: its accesses are no traffic of clients, even where
// they pass a proxy.
inline bool is_own_key(std::string_view key) {
  return key.starts_with(kKeyPrefix) || key == "heatsink:heartbeat";
}

// Keys of one shard have one hash tag, so one node of a cluster has them all.
class Names {
 public:
  explicit Names(std::string fleet) : fleet_(std::move(fleet)) {}

  const std::string& fleet() const { return fleet_; }
  std::string report(std::uint64_t shard, std::string_view id) const {
    return of_shard(shard) + "at:" + std::string(id);
  }
  std::string members(std::uint64_t shard) const { return of_shard(shard) + "members"; }
  std::string merger(std::uint64_t shard) const { return of_shard(shard) + "merger"; }
  std::string sum(std::uint64_t shard) const { return of_shard(shard) + "sum"; }
  // Written by a member whose report does not wait for the next merge.
  std::string news(std::uint64_t shard) const { return of_shard(shard) + "news"; }
  std::string list(std::uint64_t shard) const { return of_shard(shard) + "list"; }
  // With several shards: the sum of their sums.
  std::string all_merger() const { return of("all") + "merger"; }
  std::string all_list() const { return of("all") + "list"; }

 private:
  std::string of_shard(std::uint64_t shard) const { return of(std::to_string(shard)); }
  std::string of(const std::string& what) const {
    return std::string(kKeyPrefix) + "{" + fleet_ + ":" + what + "}:";
  }

  std::string fleet_;
};

}  // namespace heatsink::fleet
