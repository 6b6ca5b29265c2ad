// SPDX-License-Identifier: Apache-2.0
// Counts numbers in buckets: gives quantiles with a stated error, and can be merged.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heatsink::stats {

// Buckets are linear up to 64, then 32 for each doubling. Log-linear, as in HdrHistogram. Numbers
// below 64 have a bucket each; above, a bucket's width is a 32nd to a 64th of its numbers. Negative
// numbers mirror positive ones: they have the buckets of their magnitude, with a sign. The middle
// of a bucket differs from its numbers by at most kErrorMax.
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

// Counts by the buckets above, in a chunk of 256 bytes per doubling that occurs: a
// thousandfold range takes 3 KiB, any range at most 30 KiB. One thread. add() is O(1) and allocates
// only for the first number of a doubling.
class Histogram {
 public:
  void add(std::int64_t value) { ++at(value); }
  void add_bucket(bool is_negative, std::uint32_t bucket, std::uint64_t count);
  void merge(const Histogram& other);
  void clear();  // keeps its memory

  std::uint64_t count() const;
  // The number that a part q (0 .. 1) of all do not exceed, within kErrorMax; 0 for no numbers.
  std::int64_t quantile(double q) const;

  struct Bucket {
    bool is_negative;
    std::uint32_t bucket;
    std::uint64_t count;
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  std::vector<Bucket> buckets() const;  // that are not empty, by value, ascending
  std::size_t memory_bytes() const;

  friend bool operator==(const Histogram& a, const Histogram& b) {
    return a.buckets() == b.buckets();
  }

 private:
  static constexpr std::uint32_t kChunks = kBucketsEachSign / kSteps;
  static constexpr std::uint8_t kNone = 0;
  using Chunk = std::array<std::uint64_t, kSteps>;

  std::uint64_t& at(std::int64_t value) {
    const bool is_negative = value < 0;
    const auto bits = static_cast<std::uint64_t>(value);
    return at(is_negative, bucket_of(is_negative ? 0 - bits : bits));
  }
  std::uint64_t& at(bool is_negative, std::uint32_t bucket) {
    std::uint8_t& place = places_[is_negative ? 1 : 0][bucket / kSteps];
    if (place == kNone) [[unlikely]]
      open(place);
    return chunks_[place - 1U][bucket % kSteps];
  }
  void open(std::uint8_t& place);

  std::array<std::array<std::uint8_t, kChunks>, 2> places_{};  // 1 + index in chunks_, by sign
  std::vector<Chunk> chunks_;
};

}  // namespace heatsink::stats
