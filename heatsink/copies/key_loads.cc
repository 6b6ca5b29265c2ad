// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/key_loads.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace heatsink::copies {

void KeyLoads::add(KeyHash key, std::int64_t commands) {
  Stripe& stripe = stripes_[key.value % kStripes];
  const std::lock_guard lock(stripe.mutex);
  auto& part = stripe.parts[part_.load(std::memory_order_relaxed)];
  if (const auto found = part.find(key.value); found != part.end()) {
    found->second += commands;
  } else if (part.size() < kKeysMax) {
    part.emplace(key.value, commands);
  }
}

void KeyLoads::move(TimePoint now, Nanos window) {
  if (begun_at_ == TimePoint::min()) begun_at_ = part_begun_at_ = now;
  const Nanos length = part_length_ = std::max<Nanos>(window / kParts, Nanos(1));
  const auto steps =
      static_cast<std::size_t>(std::clamp<Nanos::rep>((now - part_begun_at_) / length, 0, kParts));
  if (steps == 0) return;
  part_begun_at_ = steps == kParts ? now : part_begun_at_ + static_cast<Nanos::rep>(steps) * length;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t next = (part_.load(std::memory_order_relaxed) + 1) % kParts;
    clear(next);
    part_.store(next, std::memory_order_relaxed);
  }
}

Nanos KeyLoads::covered(TimePoint now) const {
  if (begun_at_ == TimePoint::min()) return Nanos(0);
  constexpr auto kWholeParts = static_cast<Nanos::rep>(kParts) - 1;
  return std::min(now - begun_at_, kWholeParts * part_length_ + (now - part_begun_at_));
}

// Both parts cover a window less a tenth at most. One that covers less has only begun, and there
// was nothing before.
std::int64_t KeyLoads::spared(KeyHash key, std::uint64_t hits, double counted_seconds,
                              TimePoint now) const {
  constexpr double kTenthMore = 10.0 / 9;
  const double seconds = std::chrono::duration<double>(covered(now)).count();
  const double to_same_time = seconds > 0 ? std::min(counted_seconds / seconds, kTenthMore) : 0;
  return static_cast<std::int64_t>(hits) +
         std::llround(static_cast<double>(of(key)) * to_same_time);
}

void KeyLoads::clear(std::size_t part) {
  for (Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    stripe.parts[part].clear();
  }
}

std::int64_t KeyLoads::of(KeyHash key) const {
  const Stripe& stripe = stripes_[key.value % kStripes];
  const std::lock_guard lock(stripe.mutex);
  std::int64_t sum = 0;
  for (const auto& part : stripe.parts) {
    if (const auto found = part.find(key.value); found != part.end()) sum += found->second;
  }
  return sum;
}

}  // namespace heatsink::copies
