// SPDX-License-Identifier: Apache-2.0
// From a server's logarithmic access counter (OBJECT FREQ) to accesses per second.
#pragma once

#include <cstdint>

#include "heatsink/observe/rate_bounds.h"

namespace heatsink::observe {

// The server's settings: lfu-log-factor, and lfu-decay-time in minutes.
struct LfuSettings {
  double log_factor = 10;
  double decay_minutes = 1;
};

inline constexpr int kLfuBegin = 5;  // what a new key's counter has
inline constexpr int kLfuMost = 255;

// The counter c is Morris's (Communications of the ACM 1978): an access adds one with probability
// 1 / (f x + 1), x = c - 5, f the log factor; every lfu-decay-time one is taken off (evict.c of
// Redis and Valkey). Where the rate is steady the two keep the balance, so the rate is
//   (f x + 1) / (60 decay).
// Around that x wanders with a variance of x / 2 + 1 / (2 f) (arrivals at random, losses at fixed
// times, linearised); the bounds are those of x -+ (2 standard deviations + 1), about 95 %. They
// say nothing of a rate that has changed: x needs x decay-times to forget. At 255 the counter is
// full: the upper bound is infinite. With a decay-time of 0 nothing is ever taken off, and the
// counter tells a number since the key was made, not a rate: 0 .. infinity.
RateBounds lfu_rate(int counter, const LfuSettings& settings);

// How many accesses take a new key's counter to `counter`, on average: x + f x (x - 1) / 2.
double lfu_accesses(int counter, const LfuSettings& settings);

}  // namespace heatsink::observe
