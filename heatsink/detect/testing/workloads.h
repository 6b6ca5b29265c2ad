// SPDX-License-Identifier: Apache-2.0
// Generates traffic of known shapes: a rate, a length, and the key of each access.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <ostream>
#include <random>
#include <string>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/base/zipf.h"

namespace heatsink::detect::testing {

// The same seed gives the same traffic. `key` is stateful: call it once per access, in order.
struct Workload {
  std::string name;
  double rate = 0;  // accesses per second, evenly spaced
  Nanos length{};
  std::function<std::uint64_t(double elapsed_s)> key;  // numbers of keys

  std::uint64_t accesses() const {
    return static_cast<std::uint64_t>(rate * std::chrono::duration<double>(length).count());
  }
};
// Without it, test names would contain the object's bytes, with addresses.
inline std::ostream& operator<<(std::ostream& out, const Workload& workload) {
  return out << workload.name;
}

// Numbers of different origins never coincide.
enum class Origin : std::uint64_t { kPopular = 1, kHot = 2, kScan = 3, kBurst = 4 };
inline std::uint64_t key_of(Origin origin, std::uint64_t number) {
  return (static_cast<std::uint64_t>(origin) << 48) + number;
}

// The basis of all shapes: popular keys by Zipf 0.99.
class Popular {
 public:
  Popular(std::uint64_t keys, std::uint64_t seed) : zipf_(keys, 0.99), keys_(keys), random_(seed) {}

  std::uint64_t operator()(std::uint64_t shift = 0) {
    return key_of(Origin::kPopular, (zipf_.rank(random_) + shift) % keys_);
  }
  bool once_in(double n) { return static_cast<double>(random_() >> 11) * 0x1p-53 < 1 / n; }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

 private:
  Zipf zipf_;
  std::uint64_t keys_;
  std::mt19937_64 random_;
};

inline Workload zipf(double rate, Nanos length, std::uint64_t keys) {
  return {"Zipf 0.99", rate, length,
          [popular = Popular(keys, 1)](double) mutable { return popular(); }};
}

// 50 keys have a third of the traffic for 15 s; then 50 other keys do.
inline Workload jumping_hot_set(double rate, Nanos length, std::uint64_t keys) {
  return {"hot set that jumps every 15 s", rate, length,
          [popular = Popular(keys, 2)](double elapsed_s) mutable {
            const auto turn = static_cast<std::uint64_t>(elapsed_s / 15);
            if (!popular.once_in(3)) return popular();
            return key_of(Origin::kHot, turn * 1000 + popular.below(50));
          }};
}

// A third walks through 30 000 keys again and again; every 5 s a second of distinct keys only.
inline Workload loops_and_bursts(double rate, Nanos length, std::uint64_t keys) {
  return {"loops and bursts of distinct keys", rate, length,
          [popular = Popular(keys, 3), step = std::uint64_t{0}](double elapsed_s) mutable {
            ++step;
            if (std::fmod(elapsed_s, 5) >= 4) return key_of(Origin::kBurst, step);
            return popular.once_in(3) ? key_of(Origin::kScan, step % 30'000) : popular();
          }};
}

// One key rises from nothing to a quarter of the traffic, and falls again.
inline Workload flash_crowd(double rate, Nanos length, std::uint64_t keys) {
  return {"flash crowd", rate, length, [popular = Popular(keys, 4)](double elapsed_s) mutable {
            const bool crowd = std::fmod(elapsed_s, 20) >= 12;
            return crowd && popular.once_in(4) ? key_of(Origin::kHot, 0) : popular();
          }};
}

// Popularity shifts by one rank every 50 ms; the popular part of the traffic rises and falls.
inline Workload diurnal_drift(double rate, Nanos length, std::uint64_t keys) {
  return {"diurnal drift", rate, length,
          [popular = Popular(keys, 5), keys](double elapsed_s) mutable {
            const double sun = 1 + std::sin(elapsed_s * 2 * std::numbers::pi / 24);
            if (popular.once_in(2 + 4 * sun)) return key_of(Origin::kPopular, popular.below(keys));
            return popular(static_cast<std::uint64_t>(elapsed_s * 20));
          }};
}

// Four in five accesses are of keys that come once, in order; the others go to 200 keys evenly.
inline Workload scan_and_hot_set(double rate, Nanos length) {
  return {"scan beside a hot set", rate, length,
          [popular = Popular(10, 6), step = std::uint64_t{0}](double) mutable {
            return popular.once_in(5) ? key_of(Origin::kHot, popular.below(200))
                                      : key_of(Origin::kScan, ++step);
          }};
}

// Every 3 s ten keys, always the same, have all the traffic for 0.3 s.
inline Workload periodic_bursts(double rate, Nanos length, std::uint64_t keys) {
  return {"periodic bursts", rate, length, [popular = Popular(keys, 7)](double elapsed_s) mutable {
            return std::fmod(elapsed_s, 3) < 0.3 ? key_of(Origin::kHot, popular.below(10))
                                                 : popular();
          }};
}

// No key is hotter than another.
inline Workload uniform(double rate, Nanos length, std::uint64_t keys) {
  return {"uniform", rate, length, [popular = Popular(10, 8), keys](double) mutable {
            return key_of(Origin::kPopular, popular.below(keys));
          }};
}

}  // namespace heatsink::detect::testing
