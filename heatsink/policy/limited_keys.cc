// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/limited_keys.h"

#include <algorithm>

namespace heatsink::policy {
namespace {

constexpr unsigned kCountBits = 32;
constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;

std::uint64_t second_of(TimePoint now) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

double part_of_second(TimePoint now) {
  const Nanos rest = now.time_since_epoch() % std::chrono::seconds(1);
  return std::chrono::duration<double>(rest).count();
}

}  // namespace

std::uint64_t LimitedKeys::counted(const KeyCounter& counter, std::uint64_t second) noexcept {
  const std::uint64_t cell = counter.seconds[second % kSeconds].load(std::memory_order_relaxed);
  return cell >> kCountBits == (second & kCountMask) ? cell & kCountMask : 0;
}

bool LimitedKeys::is_idle(const KeyCounter& counter, std::uint64_t second) noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t ago = 0; ago < kSeconds - 1; ++ago) sum += counted(counter, second - ago);
  return sum == 0;
}

LimitedKeys::KeyCounter* LimitedKeys::find(KeyHash key) noexcept {
  KeyCounter* const ways = &counters_[key.value % (kKeysMax / kWays) * kWays];
  KeyCounter* const found = std::find_if(ways, ways + kWays, [&](const KeyCounter& counter) {
    return counter.key.load() == key.value;
  });
  return found == ways + kWays ? nullptr : found;
}

void LimitedKeys::add(KeyHash key, TimePoint now) noexcept {
  const std::uint64_t second = second_of(now);
  KeyCounter* counter = find(key);
  if (counter == nullptr) {
    KeyCounter* const ways = &counters_[key.value % (kKeysMax / kWays) * kWays];
    counter = std::find_if(ways, ways + kWays,
                           [&](const KeyCounter& each) { return is_idle(each, second); });
    if (counter == ways + kWays) return;
    counter->key.store(key.value);
  }
  Second& cell = counter->seconds[second % kSeconds];
  // Compare and swap, since another thread may start the same second anew at this moment.
  const std::uint64_t fresh = (second & kCountMask) << kCountBits;
  std::uint64_t seen = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(
      seen, (seen >> kCountBits == (second & kCountMask) ? seen : fresh) + 1,
      std::memory_order_relaxed)) {
  }
}

double LimitedKeys::rate(KeyHash key, TimePoint now) const noexcept {
  const std::uint64_t second = second_of(now);
  const KeyCounter* const counter = const_cast<LimitedKeys*>(this)->find(key);
  if (counter == nullptr) return 0;
  std::uint64_t sum = 0;
  for (std::uint64_t ago = 0; ago < kSeconds - 1; ++ago) sum += counted(*counter, second - ago);
  // The sum covers two whole seconds and the part of the current one.
  return static_cast<double>(sum) / (static_cast<double>(kSeconds - 2) + part_of_second(now));
}

}  // namespace heatsink::policy
