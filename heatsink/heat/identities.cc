// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/identities.h"

#include <utility>

namespace heatsink::heat {

std::string Identities::key_of(const Identity& identity) {
  std::string key;
  key.reserve(identity.name.size() + 6);
  key.push_back(static_cast<char>(identity.kind));
  key.push_back(identity.is_cut ? '1' : '0');
  for (int shift = 0; shift < 32; shift += 8)
    key.push_back(static_cast<char>((identity.db >> shift) & 0xff));
  key += identity.name;
  return key;
}

std::optional<IdentityId> Identities::number_of(const Identity& identity) {
  std::string key = key_of(identity);
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  IdentityId id = 0;
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
    all_[id] = identity;
  } else {
    if (all_.size() >= max_) return std::nullopt;
    id = static_cast<IdentityId>(all_.size());
    all_.push_back(identity);
    used_.push_back(false);
  }
  used_[id] = true;
  bytes_ += 2 * key.size();
  numbers_.emplace(std::move(key), id);
  return id;
}

void Identities::free(IdentityId id) {
  const std::string key = key_of(all_[id]);
  bytes_ -= 2 * key.size();
  numbers_.erase(key);
  all_[id] = {};
  used_[id] = false;
  free_.push_back(id);
}

}  // namespace heatsink::heat
