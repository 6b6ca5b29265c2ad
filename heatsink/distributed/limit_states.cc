// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/limit_states.h"

#include <functional>
#include <utility>

namespace heatsink::distributed {

std::shared_ptr<LimitState> LimitStates::find(std::string_view prefix, std::string_view key) {
  Part& part = parts_.at(std::hash<std::string_view>()(key) % kParts);
  const std::lock_guard lock(part.mutex);
  if (const auto found = part.by_key.find(key); found != part.by_key.end()) {
    part.rows.splice(part.rows.begin(), part.rows, found->second);
    return found->second->second;
  }
  part.rows.emplace_front(std::string(key),
                          std::make_shared<LimitState>(std::string(prefix).append(key)));
  part.by_key.emplace(part.rows.front().first, part.rows.begin());
  if (part.rows.size() > each_max_) {
    part.by_key.erase(part.rows.back().first);
    part.rows.pop_back();
  }
  return part.rows.front().second;
}

std::size_t LimitStates::size() const {
  std::size_t sum = 0;
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    sum += part.rows.size();
  }
  return sum;
}

}  // namespace heatsink::distributed
