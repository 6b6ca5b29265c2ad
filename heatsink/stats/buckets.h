// SPDX-License-Identifier: Apache-2.0
// Maps numbers to buckets: linear up to 64, then 32 buckets for each doubling.
#pragma once

#include <bit>
#include <cstdint>

namespace heatsink::stats {

// Log-linear, as in HdrHistogram. Numbers below 64 have a bucket each; above, a bucket's width is a
// 32nd to a 64th of its numbers. Negative numbers mirror positive ones: they have the buckets of
// their magnitude, with a sign. The middle of a bucket differs from its numbers by at most
// kErrorMax.
inline constexpr unsigned kStepBits = 5;
inline constexpr std::uint32_t kSteps = 1U << kStepBits;                          // per doubling
inline constexpr std::uint32_t kBucketsEachSign = (63 - kStepBits + 1) * kSteps;  // 1888
inline constexpr double kErrorMax = 0.5 / kSteps;                                 // 1.6 %

// The bucket of a magnitude, 0 .. kBucketsEachSign - 1, ascending; 2^63, which int64_t cannot hold,
// is in the last one.
constexpr std::uint32_t bucket_of(std::uint64_t magnitude) {
  if (magnitude >= std::uint64_t{1} << 63U) return kBucketsEachSign - 1;
  const auto width = static_cast<unsigned>(std::bit_width(magnitude));
  const unsigned shift = width > kStepBits + 1 ? width - (kStepBits + 1) : 0;
  return shift * kSteps + static_cast<std::uint32_t>(magnitude >> shift);
}

// The magnitudes of a bucket are [low, low + width).
struct BucketRange {
  std::uint64_t low;
  std::uint64_t width;
};
constexpr BucketRange range_of(std::uint32_t bucket) {
  if (bucket < 2 * kSteps) return {bucket, 1};
  const unsigned shift = bucket / kSteps - 1;
  return {std::uint64_t{bucket % kSteps + kSteps} << shift, std::uint64_t{1} << shift};
}

}  // namespace heatsink::stats
