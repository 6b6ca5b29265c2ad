// SPDX-License-Identifier: Apache-2.0
// Turns a server's logarithmic access counter (OBJECT FREQ) into accesses per second.
#pragma once

#include <cstdint>

#include "heatsink/observe/rate_bounds.h"

namespace heatsink::observe {

// The server's settings: lfu-log-factor, and lfu-decay-time in minutes.
struct LfuSettings {
  double log_factor = 10;
  double decay_minutes = 1;
};

inline constexpr int kLfuBegin = 5;  // the counter of a new key
inline constexpr int kLfuMost = 255;

// The counter c is Morris's (Communications of the ACM 1978): an access adds one with probability
// 1 / (f x + 1), x = c - 5, where f is the log factor. The server takes one off every
// lfu-decay-time (evict.c of Redis and Valkey). At a steady rate the two balance, so the estimate
// of the rate is
//   (f x + 1) / (60 decay).
// (With a decay-time above one minute, a key that is read every minute loses nothing, because each
// access restarts its time: its counter only grows.) The counter of a busy key needs minutes to
// rise and hours to fall, so the bounds do not assume balance. They bound the mean rate over the
// last decay-time, whatever happened before, with 99 %:
//   high   The worst case is a key that was at 0 a decay-time ago (a new one starts at 5), lost one
//          step at the very end and is at c all the same. It had fewer accesses than it takes to
//          pass c + 1: a sum of geometric numbers with mean f x + 1 each. This sum is treated as a
//          Gamma distribution of the same mean and variance; the bound is its 99.5 % quantile.
//   low    0: all of the counter may be older.
// From 254 on the counter may have been full, so the upper bound is infinite. With a decay-time of
// 0 the server takes nothing off: the counter then gives a number since the key was made, not a
// rate, and the bounds are 0 .. infinity. O(counter).
RateBounds lfu_rate(int counter, const LfuSettings& settings);

// The sum of the estimates of `keys` keys whose counters are above kLfuBegin, by `steps` in all:
// (f steps + keys) / (60 decay). NaN with a decay-time of 0. O(1).
double lfu_rates_sum(double keys, double steps, const LfuSettings& settings);

// The average number of accesses that raise a new key's counter to `counter`: x + f x (x - 1) / 2.
double lfu_accesses(int counter, const LfuSettings& settings);

}  // namespace heatsink::observe
