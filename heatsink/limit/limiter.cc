// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/limiter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "heatsink/base/units.h"
#include "heatsink/limit/buckets.h"
#include "heatsink/limit/windows.h"

namespace heatsink::limit {

std::uint64_t burst_of(const LimiterOptions& options) {
  if (options.burst != 0) return options.burst;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(options.rate.per_second()), 1);
}

namespace {

constexpr std::array<std::pair<Algorithm, std::string_view>, 4> kNames{{
    {Algorithm::kFixedWindow, "fixed-window"},
    {Algorithm::kSlidingWindow, "sliding-window"},
    {Algorithm::kLeakyBucket, "leaky-bucket"},
    {Algorithm::kTokenBucket, "token-bucket"},
}};

Error refused(std::string why) { return {ErrorCode::kOutOfRange, std::move(why)}; }

// A bucket that takes longer to fill is a mistake, and its level would not fit into its integer.
Status check_burst(const LimiterOptions& options) {
  constexpr double kDaysMax = 365;
  const double seconds = static_cast<double>(burst_of(options)) / options.rate.per_second();
  if (seconds <= kDaysMax * 86'400) return Unit{};
  return refused(fmt::format("a burst of {} at {} takes more than a year to fill: lower the burst",
                             options.burst, format_rate(options.rate)));
}

Status check_patience(const LimiterOptions& options) {
  if (options.patience >= Nanos(0) && options.patience <= kPatienceMax) return Unit{};
  return refused(fmt::format("the patience of a token bucket must be from 0 to {}",
                             format_duration(kPatienceMax)));
}

Status check_sliding(const LimiterOptions& options) {
  if (options.slots < 1 || options.slots > kSlotsMax)
    return refused(fmt::format("a sliding window must have 1 to {} slots", kSlotsMax));
  if (options.rate.count > kSlidingCountMax)
    return refused(fmt::format("a sliding window counts to at most {}: use a shorter window",
                               kSlidingCountMax));
  return Unit{};
}

Status check(const LimiterOptions& options) {
  if (Status rate = check_rate(options.rate); !rate) return rate;
  switch (options.algorithm) {
    case Algorithm::kFixedWindow:
      return Unit{};
    case Algorithm::kSlidingWindow:
      return check_sliding(options);
    case Algorithm::kLeakyBucket:
      return check_burst(options);
    case Algorithm::kTokenBucket:
      if (Status burst = check_burst(options); !burst) return burst;
      return check_patience(options);
  }
  std::abort();
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  for (const auto& [each, name] : kNames)
    if (each == algorithm) return name;
  std::abort();
}

std::optional<Algorithm> algorithm_of(std::string_view text) {
  for (const auto& [each, name] : kNames)
    if (name == text) return each;
  return std::nullopt;
}

Result<std::unique_ptr<Limiter>> make_limiter(const LimiterOptions& options) {
  if (const Status checked = check(options); !checked) return checked.error();
  std::unique_ptr<Limiter> made;
  switch (options.algorithm) {
    case Algorithm::kFixedWindow:
      made = std::make_unique<FixedWindow>(options.rate);
      break;
    case Algorithm::kSlidingWindow:
      made = std::make_unique<SlidingWindow>(options.rate, options.slots);
      break;
    case Algorithm::kLeakyBucket:
      made = std::make_unique<LeakyBucket>(options.rate, burst_of(options));
      break;
    case Algorithm::kTokenBucket:
      made = std::make_unique<TokenBucket>(options.rate, burst_of(options), options.patience);
      break;
  }
  return made;
}

}  // namespace heatsink::limit
