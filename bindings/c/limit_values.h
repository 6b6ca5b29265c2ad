// SPDX-License-Identifier: Apache-2.0
// What the limits of heatsink.h, of one process and of all, have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "heatsink/limit/limit.h"

namespace heatsink::capi {

// What it holds; an error becomes HEATSINK_INVALID (guarded()).
template <class T>
T given(Result<T> result) {
  if (!result.ok()) throw std::invalid_argument(result.error().message);
  return std::move(result).value();
}

// Reads a heatsink_limit or heatsink_local_limit: 0 and null stand for their defaults.
template <class Limit>
limit::LimiterOptions limiter_options(const Limit& values) {
  limit::LimiterOptions options;
  if (values.algorithm != nullptr) {
    const auto algorithm = limit::algorithm_of(values.algorithm);
    if (!algorithm)
      throw std::invalid_argument(
          "unknown algorithm \"" + std::string(values.algorithm) +
          "\": use token-bucket, sliding-window, fixed-window or leaky-bucket");
    options.algorithm = *algorithm;
  }
  if (values.rate != nullptr) options.rate = given(limit::parse_rate(values.rate));
  options.burst = values.burst;
  if (values.slots != 0) options.slots = values.slots;
  return options;
}

// Rounded up, so that nobody asks too early; UINT64_MAX: never.
inline uint64_t us_of(Nanos wait) {
  if (wait == limit::kNever) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(std::chrono::ceil<std::chrono::microseconds>(wait).count());
}

}  // namespace heatsink::capi
