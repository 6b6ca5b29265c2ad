// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/right_size.h"

#include <algorithm>

namespace heatsink::admit {

std::optional<std::size_t> right_size(std::span<const double> saved) {
  const auto best = std::max_element(saved.begin(), saved.end());
  if (best == saved.end() || *best < kSavedWorthwhile) return std::nullopt;
  const double enough = *best * kSavedEnough;
  const auto least =
      std::find_if(saved.begin(), saved.end(), [&](double each) { return each >= enough; });
  return static_cast<std::size_t>(least - saved.begin());
}

SizeAdvice size_advice(std::span<const std::size_t> copies, std::span<const double> saved,
                       std::size_t now) {
  const std::optional<std::size_t> right = right_size(saved);
  if (!right) return {SizeAdvice::Do::kNothingPays, now};
  const double best = *std::max_element(saved.begin(), saved.end());
  if (*right > now && saved[now] < best * kSavedTooLittle) return {SizeAdvice::Do::kRaise, *right};
  constexpr std::size_t kClearlyFewer = 8;
  for (std::size_t i = *right; i < now && kClearlyFewer * copies[i] <= copies[now]; ++i)
    if (saved[i] >= saved[now] * kSavedTheSame) return {SizeAdvice::Do::kLower, i};
  return {SizeAdvice::Do::kKeep, now};
}

}  // namespace heatsink::admit
