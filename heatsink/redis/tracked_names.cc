// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracked_names.h"

#include <random>
#include <utility>

#include "heatsink/base/hash.h"

namespace heatsink::redis {
namespace {

constexpr std::size_t kPlacesMin = 64;  // a power of two, as all sizes

// Colliding names only count as one. But with a fixed seed an attacker could make names whose
// hashes stand in one long row.
std::uint64_t hash_of(std::string_view name) {
  static const std::uint64_t seed = std::random_device{}();
  const std::uint64_t hash = hash_name(name, seed).value;
  return hash == 0 ? 1 : hash;
}

}  // namespace

// The place of the hash, or the free one where it belongs. REQUIRES a free place.
std::size_t TrackedNames::place_of(std::uint64_t hash) const {
  std::size_t at = hash & (places_.size() - 1);
  while (places_[at] != 0 && places_[at] != hash) at = (at + 1) & (places_.size() - 1);
  return at;
}

bool TrackedNames::admit(std::string_view name) {
  if (4 * (size_ + 1) > 3 * places_.size()) grow();
  const std::uint64_t hash = hash_of(name);
  std::uint64_t& place = places_[place_of(hash)];
  if (place == hash) return true;
  if (size_ >= max_) return false;
  place = hash;
  ++size_;
  return true;
}

// What stands behind the free place moves up, unless it would come in front of its home.
void TrackedNames::forget(std::string_view name) {
  if (size_ == 0) return;
  const std::size_t mask = places_.size() - 1;
  std::size_t free = place_of(hash_of(name));
  if (places_[free] == 0) return;
  --size_;
  for (std::size_t at = (free + 1) & mask; places_[at] != 0; at = (at + 1) & mask) {
    const std::size_t from_home = (at - places_[at]) & mask;
    if (from_home < ((at - free) & mask)) continue;
    places_[free] = places_[at];
    free = at;
  }
  places_[free] = 0;
}

void TrackedNames::grow() {
  const std::vector<std::uint64_t> before = std::exchange(
      places_, std::vector<std::uint64_t>(places_.empty() ? kPlacesMin : 2 * places_.size()));
  for (const std::uint64_t hash : before)
    if (hash != 0) places_[place_of(hash)] = hash;
}

void TrackedNames::clear() {
  places_ = {};
  size_ = 0;
}

}  // namespace heatsink::redis
