// SPDX-License-Identifier: Apache-2.0
// Says how many copies are enough, from what several numbers of copies save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heatsink::admit {

// Less than this share of the requests is not worth the memory.
inline constexpr double kSavedWorthwhile = 0.01;
// Copies are enough if they save at least this part of what the best number of copies saves.
inline constexpr double kSavedEnough = 0.95;

// `saved`: shares, by rising numbers of copies. The index of the fewest copies that are enough;
// nothing if the best number is not worthwhile. It depends on the savings alone, not on the number
// in use.
std::optional<std::size_t> right_size(std::span<const double> saved);

// What to do about a number of copies in use.
struct SizeAdvice {
  enum class Do : std::uint8_t { kNothingPays, kKeep, kRaise, kLower };
  Do what = Do::kKeep;
  std::size_t to = 0;  // the index of the number to raise or lower it to
};

// `copies`: by rising numbers; `now`: the index of the number in use. Estimates of samples differ
// by a few percent, so advice begins only beyond that: raising where the number in use saves less
// than kSavedTooLittle of the best, and lowering where an eighth of the copies saves kSavedTheSame
// of what it saves. Who follows the advice, or sets right_size(), is not sent back.
inline constexpr double kSavedTooLittle = 0.9;
inline constexpr double kSavedTheSame = 0.98;
SizeAdvice size_advice(std::span<const std::size_t> copies, std::span<const double> saved,
                       std::size_t now);

}  // namespace heatsink::admit
