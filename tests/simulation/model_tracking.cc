// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model_tracking.h"

#include <iterator>
#include <utility>

namespace heatsink::simulation {

void ModelTracking::remember(std::uint64_t client, std::string_view key) {
  auto found = clients_.find(key);
  if (found == clients_.end()) found = clients_.emplace(key, Clients()).first;
  found->second.insert(client);
}

ModelTracking::Clients ModelTracking::take(const std::string& key) {
  const auto found = clients_.find(key);
  if (found == clients_.end()) return {};
  Clients out = std::move(found->second);
  clients_.erase(found);
  return out;
}

const std::string& ModelTracking::any_name() {
  chosen_ = chosen_ * 6364136223846793005ULL + 1442695040888963407ULL;
  const auto steps = static_cast<std::ptrdiff_t>((chosen_ >> 33) % clients_.size());
  return std::next(clients_.begin(), steps)->first;
}

}  // namespace heatsink::simulation
