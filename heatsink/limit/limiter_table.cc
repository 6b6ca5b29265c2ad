// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/limiter_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <thread>
#include <utility>

namespace heatsink::limit {
namespace {

// Attempts to give a key an entry, while other threads do the same. One of these may have lost its
// core after its claim: it gets some before each of the later attempts.
constexpr int kTries = 100;
constexpr int kTriesAtOnce = 4;

std::size_t sets_for(std::size_t entries) {
  return std::bit_ceil((std::max<std::size_t>(entries, 1) + LimiterTable::kWays - 1) /
                       LimiterTable::kWays);
}

// In an entry's key: the entry is being given to the key, or taken from it. No look-up finds it, so
// no thread uses its limiter meanwhile.
constexpr std::uint64_t kClaimed = 1;

// Even, and not 0, which is reserved.
std::uint64_t stored(std::uint64_t key) {
  const std::uint64_t even = key & ~kClaimed;
  return even == 0 ? 2 : even;
}

}  // namespace

LimiterTable::LimiterTable(const LimiterOptions& options, std::size_t entries)
    : entries_(sets_for(entries) * kWays), mask_(sets_for(entries) - 1) {
  for (Entry& entry : entries_) {
    Result<std::unique_ptr<Limiter>> made = make_limiter(options);
    assert(made.ok());
    entry.limiter = std::move(made).value();
  }
}

LimiterTable::Entry* LimiterTable::ways_of(std::uint64_t key) noexcept {
  return entries_.data() + ((key >> 32U) & mask_) * kWays;
}

LimiterTable::Entry* LimiterTable::find_entry(std::uint64_t key) noexcept {
  Entry* const ways = ways_of(key);
  Entry* const found =
      std::find_if(ways, ways + kWays, [&](const Entry& entry) { return entry.key.load() == key; });
  return found == ways + kWays ? nullptr : found;
}

Limiter* LimiterTable::find(std::uint64_t key) noexcept {
  Entry* const entry = find_entry(stored(key));
  return entry == nullptr ? nullptr : entry->limiter.get();
}

LimiterTable::Victim LimiterTable::roomiest(Entry* ways, TimePoint now) noexcept {
  Victim best;
  std::uint64_t most = 0;
  for (Entry* entry = ways; entry != ways + kWays; ++entry) {
    const std::uint64_t key = entry->key.load();
    if (key == kEmpty) return {entry, key};
    if ((key & kClaimed) != 0) continue;
    const std::uint64_t left = entry->limiter->try_acquire(0, now).remaining;
    if (best.entry != nullptr && left <= most) continue;
    most = left;
    best = {entry, key};
  }
  return best;
}

// Two threads that place one key both claim an entry before they look for another one of that key.
// So at least one of them sees the other, and gives its entry back; if both do, both try again.
void LimiterTable::place(std::uint64_t key, TimePoint now) noexcept {
  Entry* const ways = ways_of(key);
  Victim victim = roomiest(ways, now);
  // Only from what it was then: another thread may have given it to a key that is in use now.
  if (victim.entry == nullptr ||
      !victim.entry->key.compare_exchange_strong(victim.key, key | kClaimed))
    return;
  // The limiter of an empty entry is as new.
  if (victim.key != kEmpty) victim.entry->limiter->forget();
  const bool is_elsewhere = std::any_of(ways, ways + kWays, [&](const Entry& entry) {
    return &entry != victim.entry && (entry.key.load() | kClaimed) == (key | kClaimed);
  });
  victim.entry->key.store(is_elsewhere ? kEmpty : key);
}

Limiter& LimiterTable::of(std::uint64_t key, TimePoint now) noexcept {
  const std::uint64_t wanted = stored(key);
  Entry* entry = find_entry(wanted);
  for (int i = 0; entry == nullptr && i < kTries; ++i) {
    if (i >= kTriesAtOnce) std::this_thread::yield();
    place(wanted, now);
    entry = find_entry(wanted);
  }
  return entry == nullptr ? *ways_of(wanted)->limiter : *entry->limiter;
}

void LimiterTable::carry_from(LimiterTable& old, const CarryOver& carry, TimePoint now) noexcept {
  for (Entry& entry : old.entries_) {
    const std::uint64_t key = entry.key.load();
    if (key != kEmpty && (key & kClaimed) == 0) carry.move(*entry.limiter, of(key, now));
  }
}

void LimiterTable::drop(std::uint64_t key) noexcept {
  std::uint64_t held = stored(key);
  Entry* const entry = find_entry(held);
  if (entry == nullptr || !entry->key.compare_exchange_strong(held, held | kClaimed)) return;
  entry->limiter->forget();
  entry->key.store(kEmpty);
}

}  // namespace heatsink::limit
