// SPDX-License-Identifier: Apache-2.0
// Writes a rate as one byte, so that a week of columns fits into a few megabytes.
#pragma once

#include <cstdint>

namespace heatsink::heat {

// A logarithmic scale: a code stands for a rate within 3 % of it, but for the first and the last.
// Code 0 is "nothing"; code 1 is 1/s or less, however little; 12 codes double the rate; the last
// code, 255, is 2.35 million per second or more. A mean of codes that is written as a code has both
// errors (sums.h).
inline constexpr int kCodesPerDoubling = 12;

using RateCode = std::uint8_t;

// The code nearest to the rate, in the logarithm. Not a number, and what is below 0, is 0. O(1).
RateCode code_of(double rate);
// 0 for code 0; else 2 ^ ((code - 1) / 12). O(1).
double rate_of(RateCode code);

// Bytes have a scale of their own, which is wider: 8 codes double the figure, so a code stands for
// one within 4.5 % of it. Code 1 is 1 byte per second or less, 255 is 3.3 GiB per second or more.
inline constexpr int kBytesCodesPerDoubling = 8;
RateCode bytes_code(double bytes_per_second);
double bytes_of(RateCode code);

}  // namespace heatsink::heat
