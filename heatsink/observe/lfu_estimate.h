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

inline constexpr int kLfuBegin = 5;  // what a new key's counter has
inline constexpr int kLfuMost = 255;

// The counter c is Morris's (Communications of the ACM 1978): an access adds one with probability
// 1 / (f x + 1), x = c - 5, f the log factor; every lfu-decay-time one is taken off (evict.c of
// Redis and Valkey). Where the rate is steady the two keep the balance, so the rate is
//   (f x + 1) / (60 decay).
// That is the estimate. (With a decay-time of more than a minute a key that is read every minute
// loses nothing, since each access begins its time anew: its counter only grows.) A busy key's
// counter needs minutes to get there, and hours to forget, so the bounds do not assume it. They are
// of the mean rate over the last decay-time, whatever was before, with 99 %:
//   high   a key that was at 0 a decay-time ago (a new one starts at 5, so that is the worst), lost
//          one step at the very end and is at c all the same: it was accessed fewer times than it
//          takes to pass c + 1, a sum of geometric numbers of mean f x + 1 each. Their sum is taken
//          as a Gamma distribution of the same mean and variance, and its 99.5 % quantile.
//   low    0: a counter may be all from before.
// At 254 and above it may have been full: the upper bound is infinite. With a decay-time of 0
// nothing is ever taken off, and the counter tells a number since the key was made, not a rate:
// 0 .. infinity. O(counter).
RateBounds lfu_rate(int counter, const LfuSettings& settings);

// What the estimates of so many keys add up to, whose counters are above kLfuBegin, by `steps` in
// all: (f steps + keys) / (60 decay). NaN with a decay-time of 0. O(1).
double lfu_rates_sum(double keys, double steps, const LfuSettings& settings);

// How many accesses take a new key's counter to `counter`, on average: x + f x (x - 1) / 2.
double lfu_accesses(int counter, const LfuSettings& settings);

}  // namespace heatsink::observe
