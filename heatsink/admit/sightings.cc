// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/sightings.h"

#include <algorithm>
#include <bit>

namespace heatsink::admit {
namespace {

constexpr std::uint32_t kCountBits = 4;
constexpr std::uint32_t kTickBits = 12;
constexpr std::uint32_t kTicks = 1U << kTickBits;
// Ticks in which as many reads come as keys fit. History is at most half of what the ticks can tell
// apart: an older entry would look young.
constexpr std::size_t kTicksPerTurnover = 256;

std::uint32_t tag_of(KeyHash key) { return static_cast<std::uint32_t>(key.value >> 48U); }
std::uint32_t tag_in(std::uint32_t entry) { return entry >> (kCountBits + kTickBits); }
std::uint32_t tick_in(std::uint32_t entry) { return (entry >> kCountBits) & (kTicks - 1); }
std::uint32_t count_in(std::uint32_t entry) { return entry & ((1U << kCountBits) - 1); }
std::uint32_t make_entry(std::uint32_t tag, std::uint32_t tick, std::uint32_t count) {
  return (tag << (kCountBits + kTickBits)) | (tick << kCountBits) | count;
}

}  // namespace

Sightings::Sightings(std::size_t keys)
    : sets_(std::bit_ceil(std::max<std::size_t>(keys, 1024)) / kWays),
      reads_per_tick_(sets_ * kWays / kTicksPerTurnover),
      memory_(std::make_unique<Set[]>(sets_)) {}

void Sightings::forget(KeyHash key) noexcept {
  const std::uint32_t tag = tag_of(key);
  for (std::atomic<std::uint32_t>& slot : set_of(key).entries) {
    const std::uint32_t entry = slot.load(std::memory_order_relaxed);
    if (tag_in(entry) != tag || count_in(entry) == 0) continue;
    slot.store(0, std::memory_order_relaxed);
    return;
  }
}

std::uint32_t SightingCounter::see(KeyHash key, std::uint64_t history) noexcept {
  if (++untold_ == kBatch) {
    all_.reads_.fetch_add(kBatch, std::memory_order_relaxed);
    untold_ = 0;
  }
  if (!all_.has_counts()) all_.has_counts_.store(true, std::memory_order_relaxed);
  // The time is a number of reads: what matters is how many other keys came in between.
  const std::uint64_t reads = all_.reads_.load(std::memory_order_relaxed) + untold_;
  const auto tick = static_cast<std::uint32_t>(reads / all_.reads_per_tick_ % kTicks);
  const std::uint64_t age_max = std::min<std::uint64_t>(history / all_.reads_per_tick_, kTicks / 2);
  const std::uint32_t tag = tag_of(key);
  std::atomic<std::uint32_t>* oldest = nullptr;
  std::uint32_t oldest_age = 0;
  for (std::atomic<std::uint32_t>& slot : all_.set_of(key).entries) {
    const std::uint32_t entry = slot.load(std::memory_order_relaxed);
    const bool is_free = count_in(entry) == 0;
    const std::uint32_t age = is_free ? kTicks : (tick - tick_in(entry)) % kTicks;
    if (!is_free && tag_in(entry) == tag) {
      const std::uint32_t before = age > age_max ? 0 : count_in(entry);
      const std::uint32_t count = std::min(before + 1, Sightings::kCountMax);
      slot.store(make_entry(tag, tick, count), std::memory_order_relaxed);
      return count;
    }
    if (oldest == nullptr || age > oldest_age) {
      oldest = &slot;
      oldest_age = age;
    }
  }
  oldest->store(make_entry(tag, tick, 1), std::memory_order_relaxed);
  return 1;
}

}  // namespace heatsink::admit
