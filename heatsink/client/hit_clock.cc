// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/hit_clock.h"

#include <cmath>
#include <fstream>

namespace heatsink::client {
namespace {

constexpr Nanos kBaseline = Millis(50);  // for measuring the counter's rate
constexpr double kFast = 1.001;          // NTP adjusts the rate by 0.05 % at most
constexpr int kReadings = 5;
constexpr double kReadingShareMax = 1e-4;  // of the baseline

bool is_kept_by_counter(const std::string& file) {
#ifdef __x86_64__
  std::string name;
  std::ifstream(file) >> name;
  return name == "tsc";
#else
  static_cast<void>(file);
  return false;
#endif
}

}  // namespace

HitClock::HitClock(const Runtime& runtime, const std::string& clock_source_file)
    : runtime_(runtime),
      may_count_(runtime.has_system_time() && is_kept_by_counter(clock_source_file)),
      first_(read()) {}

// Returns the least disturbed of several readings. Its time is not earlier than its ticks.
HitClock::Reading HitClock::read() const noexcept {
  Reading best;
  for (int i = 0; i < kReadings; ++i) {
    const std::uint64_t before = ticks();
    const TimePoint time = runtime_.now();
    const std::uint64_t took = ticks() - before;
    if (i == 0 || took < best.took) best = {before, took, time};
  }
  return best;
}

void HitClock::sync() noexcept {
  if (!may_count_) return;
  const Reading reading = read();
  const std::int64_t time = reading.time.time_since_epoch().count();
  if (is_exact()) {
    const Nanos elapsed = reading.time - first_.time;
    if (elapsed < kBaseline) return;
    const auto counted = static_cast<double>(reading.ticks - first_.ticks);
    if (static_cast<double>(reading.took + first_.took) > counted * kReadingShareMax) {
      first_ = reading;  // every reading was interrupted: begin again
      return;
    }
    nanos_per_tick_ = static_cast<std::uint64_t>(
        std::ldexp(static_cast<double>(elapsed.count()) / counted * kFast, 32));
  } else {
    const std::int64_t shown = offset_.load(std::memory_order_relaxed) +
                               scaled(reading.ticks + reading.took - first_.ticks);
    if (shown < time) {  // the counter was late
      may_count_ = false;
      offset_.store(kExact, std::memory_order_release);
      return;
    }
  }
  offset_.store(time - scaled(reading.ticks - first_.ticks), std::memory_order_release);
}

}  // namespace heatsink::client
