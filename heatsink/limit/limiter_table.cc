// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/limiter_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace heatsink::limit {
namespace {

constexpr int kTries = 4;  // attempts to take an entry that other threads may take first

std::size_t sets_for(std::size_t entries) {
  return std::bit_ceil((std::max<std::size_t>(entries, 1) + LimiterTable::kWays - 1) /
                       LimiterTable::kWays);
}

// Marks an entry that changes from one key to another. No look-up finds it, so tokens taken by the
// new key are not forgotten together with those of the old one.
constexpr std::uint64_t kChanging = 1;

// 0 and 1 are reserved values.
std::uint64_t stored(std::uint64_t key) { return key < 2 ? key + 2 : key; }

// The limiter of an empty entry is as new, so it need not forget anything.
template <class Entry>
bool take(Entry& entry, std::uint64_t key, std::uint64_t empty) noexcept {
  std::uint64_t before = entry.key.load();
  if (before == empty) return entry.key.compare_exchange_strong(before, key);
  if (before == kChanging || !entry.key.compare_exchange_strong(before, kChanging)) return false;
  entry.limiter->forget();
  entry.key.store(key);
  return true;
}

template <class Entry>
void leave(Entry& entry, std::uint64_t key, std::uint64_t empty) noexcept {
  if (!entry.key.compare_exchange_strong(key, kChanging)) return;
  entry.limiter->forget();
  entry.key.store(empty);
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

LimiterTable::Entry& LimiterTable::roomiest(Entry* ways, TimePoint now) noexcept {
  Entry* best = nullptr;
  std::uint64_t most = 0;
  for (Entry* entry = ways; entry != ways + kWays; ++entry) {
    const std::uint64_t key = entry->key.load();
    if (key == kEmpty) return *entry;
    if (key == kChanging) continue;
    const std::uint64_t left = entry->limiter->try_acquire(0, now).remaining;
    if (best != nullptr && left <= most) continue;
    most = left;
    best = entry;
  }
  return best == nullptr ? *ways : *best;
}

Limiter& LimiterTable::of(std::uint64_t key, TimePoint now) noexcept {
  const std::uint64_t wanted = stored(key);
  Entry* entry = find_entry(wanted);
  for (int i = 0; entry == nullptr && i < kTries; ++i) {
    Entry& victim = roomiest(ways_of(wanted), now);
    const bool taken = take(victim, wanted, kEmpty);
    // Another thread may have given the key an entry meanwhile: the first one found counts.
    entry = find_entry(wanted);
    if (taken && entry != &victim) leave(victim, wanted, kEmpty);
  }
  return entry == nullptr ? *ways_of(wanted)->limiter : *entry->limiter;
}

void LimiterTable::carry_from(LimiterTable& old, const CarryOver& carry, TimePoint now) noexcept {
  for (Entry& entry : old.entries_) {
    const std::uint64_t key = entry.key.load();
    if (key != kEmpty && key != kChanging) carry.move(*entry.limiter, of(key, now));
  }
}

void LimiterTable::drop(std::uint64_t key) noexcept {
  if (Entry* const entry = find_entry(stored(key))) leave(*entry, stored(key), kEmpty);
}

}  // namespace heatsink::limit
