// SPDX-License-Identifier: Apache-2.0
// Says how long the file keeps columns of which length.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace heatsink::history {

// A tier's columns are made of those of the tier before. The last one is kept as long as the whole
// history (history.maximum-age); a shorter maximum-age bounds all.
struct FileTier {
  std::int64_t step_s;
  std::chrono::seconds kept;
};
inline constexpr std::array<FileTier, 5> kFileTiers{{{1, std::chrono::hours(1)},
                                                     {10, std::chrono::hours(48)},
                                                     {60, std::chrono::hours(14 * 24)},
                                                     {600, std::chrono::hours(60 * 24)},
                                                     {3600, std::chrono::seconds::max()}}};

}  // namespace heatsink::history
