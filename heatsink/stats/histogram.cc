// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/histogram.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace heatsink::stats {
namespace {

std::int64_t middle_of(const Histogram::Bucket& bucket) {
  const BucketRange range = range_of(bucket.bucket);
  const auto magnitude = static_cast<std::int64_t>(range.low + (range.width - 1) / 2);
  return bucket.is_negative ? -magnitude : magnitude;
}

}  // namespace

void Histogram::open(std::uint8_t& place) {
  chunks_.emplace_back();
  place = static_cast<std::uint8_t>(chunks_.size());
}

void Histogram::add_bucket(bool is_negative, std::uint32_t bucket, std::uint64_t count) {
  assert(bucket < kBucketsEachSign);
  at(is_negative, bucket) += count;
}

void Histogram::merge(const Histogram& other) {
  for (const Bucket& each : other.buckets()) add_bucket(each.is_negative, each.bucket, each.count);
}

void Histogram::clear() {
  for (Chunk& chunk : chunks_) chunk.fill(0);
}

std::uint64_t Histogram::count() const {
  std::uint64_t sum = 0;
  for (const Chunk& chunk : chunks_)
    for (const std::uint64_t count : chunk) sum += count;
  return sum;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> all;
  const auto look = [&](bool is_negative, std::uint32_t bucket) {
    const std::uint8_t place = places_[is_negative ? 1 : 0][bucket / kSteps];
    const std::uint64_t count = place == kNone ? 0 : chunks_[place - 1U][bucket % kSteps];
    if (count != 0) all.push_back({is_negative, bucket, count});
  };
  for (std::uint32_t bucket = kBucketsEachSign; bucket-- > 0;) look(true, bucket);
  for (std::uint32_t bucket = 0; bucket < kBucketsEachSign; ++bucket) look(false, bucket);
  return all;
}

// Nearest rank: the smallest number such that at least a part q of all numbers is at or below it.
std::int64_t Histogram::quantile(double q) const {
  const std::vector<Bucket> all = buckets();
  if (all.empty()) return 0;
  const double wanted = std::clamp(q, 0.0, 1.0) * static_cast<double>(count());
  double seen = 0;
  for (const Bucket& bucket : all) {
    seen += static_cast<double>(bucket.count);
    if (seen >= wanted) return middle_of(bucket);
  }
  return middle_of(all.back());
}

std::size_t Histogram::memory_bytes() const {
  return sizeof(*this) + chunks_.capacity() * sizeof(Chunk);
}

}  // namespace heatsink::stats
