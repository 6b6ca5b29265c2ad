// SPDX-License-Identifier: Apache-2.0
// The tracking table of the model server: which clients are told when a name changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace heatsink::simulation {

// As in Redis (tracking.c): names without their database; each entry is used once; a client that
// has left, or stopped to track, stays in it until then.
class ModelTracking {
 public:
  using Clients = std::set<std::uint64_t>;

  void remember(std::uint64_t client, std::string_view key);
  Clients take(const std::string& key);  // whom to tell that it has changed
  void clear() { clients_.clear(); }
  std::size_t names() const { return clients_.size(); }
  // Any name: chosen by a number that differs from call to call, and is the same in each run.
  const std::string& any_name();

 private:
  std::map<std::string, Clients, std::less<>> clients_;
  std::uint64_t chosen_ = 0;
};

}  // namespace heatsink::simulation
