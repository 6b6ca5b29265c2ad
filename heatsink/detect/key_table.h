// SPDX-License-Identifier: Apache-2.0
// The bounded table of tracked keys: buckets of seven, evicted by count, guarded by a sketch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/detect/access.h"
#include "heatsink/detect/admission_sketch.h"
#include "heatsink/detect/name_pool.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/tracked_key.h"

namespace heatsink::detect {

// A key lives in the one bucket its hash names. An untracked key is counted in the sketch and takes
// the place of the bucket's rarest key once it is estimated to be more frequent: a burst of
// distinct keys therefore only displaces keys as rare as itself. A tracked key is counted exactly
// from its admission on; what it may have had before bounds the error and ends with the window. Not
// thread-safe, nothing is allocated after construction. record(): a known key costs two cache
// lines, an unknown one two or three more.
class KeyTable {
 public:
  KeyTable(std::size_t memory_bytes, std::uint64_t urgent_count, std::uint64_t seed);

  void move(const SlotClock::Move& move, const Position& position);

  // True when the key became urgent.
  bool record(const Access& access, std::uint32_t weight) noexcept;

  // Fills keys and absent_max. O(table); rolls what it looks at.
  void summarize(Summary& out, std::size_t keys_max, std::uint64_t floor);

  std::size_t memory_bytes() const;
  std::size_t keys_max() const { return buckets_.size() * kWays; }

 private:
  static constexpr std::uint32_t kWays = 7;
  struct Bucket {
    std::uint64_t tags[kWays] = {};  // hashes; 0: empty, and so are all ways behind it
    std::uint32_t minimum = 0;       // the least rank in the bucket was at least this ...
    std::uint32_t minimum_turn = 0;  // ... in this turn
    Counts counts[kWays] = {};
    Details details[kWays] = {};
  };
  struct Candidate;

  Bucket& bucket_of(KeyHash hash) noexcept;
  static std::uint32_t find(const Bucket& bucket, std::uint64_t tag) noexcept;
  bool count(Bucket& bucket, std::uint32_t way, const Access& access,
             std::uint32_t weight) noexcept;
  void roll_key(Bucket& bucket, std::uint32_t way) noexcept;

  std::uint32_t admit(Bucket& bucket, const Access& access, std::uint32_t weight) noexcept;
  std::uint32_t rarest(Bucket& bucket) noexcept;
  std::uint64_t rank(const Counts& counts) const noexcept;
  void evict(Bucket& bucket, std::uint32_t way) noexcept;
  void take(Bucket& bucket, std::uint32_t way, const Access& access,
            const AdmissionSketch::Estimate& before) noexcept;

  void store_name(Bucket& bucket, std::uint32_t way, std::string_view name) noexcept;
  std::uint32_t store_end(std::string_view end, std::uint32_t owner, std::uint64_t count) noexcept;
  void drop_end(std::uint32_t owner) noexcept;
  std::uint32_t number_of(const Bucket& bucket, std::uint32_t way) const noexcept;
  KeyCount key_count(const Bucket& bucket, std::uint32_t way) const;

  std::vector<Bucket> buckets_;
  AdmissionSketch sketch_;
  NamePool names_;
  std::uint64_t urgent_count_;
  Position at_;
};

}  // namespace heatsink::detect
