// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/limiter_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace heatsink::limit {
namespace {

constexpr int kTries = 4;  // to take a place, while others take it first

std::size_t sets_for(std::size_t places) {
  return std::bit_ceil((std::max<std::size_t>(places, 1) + LimiterTable::kWays - 1) /
                       LimiterTable::kWays);
}

// A place that is given from one key to another. Nobody finds it, so that what the new key takes is
// not forgotten with what the old one took.
constexpr std::uint64_t kChanging = 1;

// 0 and 1 are no key's.
std::uint64_t stored(std::uint64_t key) { return key < 2 ? key + 2 : key; }

// What an empty place has is as new.
template <class Place>
bool take(Place& place, std::uint64_t key, std::uint64_t empty) noexcept {
  std::uint64_t before = place.key.load();
  if (before == empty) return place.key.compare_exchange_strong(before, key);
  if (before == kChanging || !place.key.compare_exchange_strong(before, kChanging)) return false;
  place.limiter->forget();
  place.key.store(key);
  return true;
}

template <class Place>
void leave(Place& place, std::uint64_t key, std::uint64_t empty) noexcept {
  if (!place.key.compare_exchange_strong(key, kChanging)) return;
  place.limiter->forget();
  place.key.store(empty);
}

}  // namespace

LimiterTable::LimiterTable(const LimiterOptions& options, std::size_t places)
    : places_(sets_for(places) * kWays), mask_(sets_for(places) - 1) {
  for (Place& place : places_) {
    Result<std::unique_ptr<Limiter>> made = make_limiter(options);
    assert(made.ok());
    place.limiter = std::move(made).value();
  }
}

LimiterTable::Place* LimiterTable::ways_of(std::uint64_t key) noexcept {
  return places_.data() + ((key >> 32U) & mask_) * kWays;
}

LimiterTable::Place* LimiterTable::find_place(std::uint64_t key) noexcept {
  Place* const ways = ways_of(key);
  Place* const found =
      std::find_if(ways, ways + kWays, [&](const Place& place) { return place.key.load() == key; });
  return found == ways + kWays ? nullptr : found;
}

Limiter* LimiterTable::find(std::uint64_t key) noexcept {
  Place* const place = find_place(stored(key));
  return place == nullptr ? nullptr : place->limiter.get();
}

LimiterTable::Place& LimiterTable::roomiest(Place* ways, TimePoint now) noexcept {
  Place* best = nullptr;
  std::uint64_t most = 0;
  for (Place* place = ways; place != ways + kWays; ++place) {
    const std::uint64_t key = place->key.load();
    if (key == kEmpty) return *place;
    if (key == kChanging) continue;
    const std::uint64_t left = place->limiter->try_acquire(0, now).remaining;
    if (best != nullptr && left <= most) continue;
    most = left;
    best = place;
  }
  return best == nullptr ? *ways : *best;
}

Limiter& LimiterTable::of(std::uint64_t key, TimePoint now) noexcept {
  const std::uint64_t wanted = stored(key);
  Place* place = find_place(wanted);
  for (int i = 0; place == nullptr && i < kTries; ++i) {
    Place& victim = roomiest(ways_of(wanted), now);
    const bool taken = take(victim, wanted, kEmpty);
    // Others may have given it a place meanwhile: the first is its own.
    place = find_place(wanted);
    if (taken && place != &victim) leave(victim, wanted, kEmpty);
  }
  return place == nullptr ? *ways_of(wanted)->limiter : *place->limiter;
}

void LimiterTable::drop(std::uint64_t key) noexcept {
  if (Place* const place = find_place(stored(key))) leave(*place, stored(key), kEmpty);
}

}  // namespace heatsink::limit
