// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracked_names.h"

#include "heatsink/base/hash.h"

namespace heatsink::redis {
namespace {

// The seed is fixed, so an attacker can make names collide. Colliding names only count as one.
std::uint64_t hash_of(std::string_view name) { return hash_name(name, 0).value; }

}  // namespace

bool TrackedNames::admit(std::string_view name) {
  const std::uint64_t hash = hash_of(name);
  if (hashes_.size() >= max_) return hashes_.contains(hash);
  hashes_.insert(hash);
  return true;
}

void TrackedNames::forget(std::string_view name) { hashes_.erase(hash_of(name)); }

}  // namespace heatsink::redis
