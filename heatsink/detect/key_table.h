// SPDX-License-Identifier: Apache-2.0
// The bounded table of tracked keys: buckets of seven, evicted by count, guarded by a sketch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "heatsink/detect/access_log.h"
#include "heatsink/detect/admission_sketch.h"
#include "heatsink/detect/distinct_keys.h"
#include "heatsink/detect/key_names.h"
#include "heatsink/detect/key_rows.h"
#include "heatsink/detect/key_tallies.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/sampling.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/tracked_key.h"

namespace heatsink::detect {

struct KeyTableOptions {
  std::size_t memory_bytes = 0;
  CountLevel urgent_count = UINT64_MAX;
  CountLevel worth_tracking = 0;
  std::uint64_t lossless_per_second = UINT64_MAX;
  std::uint64_t seed = 0;
  Dimension dimension = Dimension::kRequests;
  const TallyNames* names = nullptr;
  bool has_distinct = false;      // also counts different keys
  std::size_t names_percent = 3;  // of the memory, for the ends of names longer than 48 bytes
};

// A key lives in the one bucket that its hash selects. An untracked key is counted in the sketch
// (under fast traffic: a random sample of its accesses). It displaces the rarest key of its bucket
// when its estimate is higher: a burst of distinct keys therefore displaces only keys as rare as
// itself. A tracked key is counted exactly from its admission on; its possible earlier count bounds
// the error and leaves with the window. Not thread-safe; only summarize() allocates after
// construction.
//
// The table decides which keys are tracked. What it knows of them is in its parts: their counts
// (KeyRows), names (KeyNames), commands and clients (KeyTallies).
class KeyTable {
 public:
  explicit KeyTable(const KeyTableOptions& options);

  // Counts the accesses in the log at the table's position and clears the log; sets `sum` to its
  // totals. Returns true if a key became urgent.
  bool drain(AccessLog& log, AccessLog::Amount& sum) noexcept;
  // Counts one access, with a name of any length; returns as drain().
  bool count(const AccessLog::Entry& entry, std::string_view name) noexcept;

  // Counts `requests` accesses of a tracked key at once; false, and counts nothing, if the key is
  // not tracked. So its name need not be known. REQUIRES: counts requests, urgent_count not set.
  bool count_tracked(std::uint64_t tag, std::uint32_t requests, AccessLog::Amount sum) noexcept;

  // `all`: the count of all keys in the window, for the levels of the options.
  void move(const SlotClock::Move& move, const Position& position, std::uint64_t all);

  // Other levels from now on; their parts of all accesses count from the next move().
  void set_levels(CountLevel urgent_count, CountLevel worth_tracking) noexcept;

  // When move_sampling() is due, with the number of accesses since construction.
  TimePoint sampling_due() const { return sampler_.next(); }
  void move_sampling(TimePoint now, std::uint64_t accesses) noexcept;

  // Fills keys, absent_max and sampled; the totals must be set. O(table). Rolls the keys it reads.
  void summarize(Summary& out, std::size_t keys_max, CountLevel floor);

  // REQUIRES has_distinct. Covers all keys accessed in the window, tracked or not.
  DistinctSketch distinct() const { return distinct_->window(); }

  std::size_t memory_bytes() const;  // without the object itself
  std::size_t keys_max() const { return rows_.size(); }

 private:
  static constexpr std::uint32_t kWays = 7;
  // A bit in a bucket's prints, above those of its keys: the bucket is full, and stays so.
  static constexpr std::uint64_t kNoRoom = std::uint64_t{1} << 56;
  // Larger values are always counted, which bounds the error of a sample of bytes.
  static constexpr std::uint32_t kSampledBytesMax = 4096;

  // The least rank in a bucket, which was at least `rank` in this turn.
  struct Least {
    std::uint32_t rank = 0;
    std::uint32_t turn = 0;
  };
  static constexpr std::size_t kBucketBytes =
      sizeof(std::uint64_t) + sizeof(Least) + kWays * KeyRows::kRowBytes;

  // The number of a key is bucket * kWays + way.
  static std::uint32_t bucket_of(std::uint64_t tag, std::uint64_t buckets) noexcept {
    return static_cast<std::uint32_t>(((tag >> 32) * buckets) >> 32);
  }
  std::uint32_t bucket_of(std::uint64_t tag) const noexcept { return bucket_of(tag, buckets_); }
  bool has_room(std::uint32_t bucket) const { return (prints_[bucket] & kNoRoom) == 0; }
  static std::uint64_t matches(std::uint64_t prints, std::uint64_t tag) noexcept;
  // The first way in a result of matches(); kWays if there is none.
  static std::uint32_t way_of(std::uint64_t matches) {
    return static_cast<std::uint32_t>(std::countr_zero(matches | std::uint64_t{1} << 63)) / 8;
  }
  std::uint32_t find(std::uint64_t tag) const noexcept;

  // The entries of a log, divided by whether a print matches; known ones with the key's number.
  struct Sorted {
    struct Known {
      const AccessLog::Entry* entry;
      Counts* counts;
    };
    Known known[AccessLog::kEntries];
    std::uint32_t unknown[AccessLog::kEntries];
    std::uint32_t known_size, unknown_size;
    bool no_room;  // in any bucket of this log
    AccessLog::Amount sum;
  };

  // Counting.
  template <Dimension kDimension>
  bool drain_as(AccessLog& log, AccessLog::Amount& sum) noexcept;
  void sort(const AccessLog& log, Sorted& sorted) noexcept;
  template <Dimension kDimension, bool kTallied>
  bool count_sorted(const AccessLog& log, const Sorted& sorted) noexcept;
  template <Dimension kDimension>
  bool count_as(const AccessLog::Entry& entry, std::string_view name) noexcept;
  template <Dimension kDimension, bool kTallied = true>
  bool count_known(Counts& counts, const AccessLog::Entry& entry, const Position& at) noexcept;
  bool stays_rare(std::uint32_t bucket, std::uint64_t window) const noexcept;
  // REQUIRES: !has_room(). Calls `name_of` only for the few keys that may be admitted.
  template <Dimension kDimension, class NameOf>
  bool count_unknown(const AccessLog::Entry& entry, AdmissionSketch::CellIndex cells,
                     NameOf name_of) noexcept;
  void see(std::uint64_t tag) noexcept {
    if (distinct_ != nullptr) distinct_->add(tag, rows_.at().slot);
  }

  // Admission and eviction.
  std::uint32_t fill(const AccessLog::Entry& entry, std::string_view name) noexcept;
  std::uint32_t replace_rarest(const AccessLog::Entry& entry, std::string_view name,
                               const AdmissionSketch::Estimate& estimate,
                               std::uint32_t weight) noexcept;
  std::uint64_t rank(const Counts& counts) const noexcept;
  void evict(std::uint32_t key) noexcept;
  void take(std::uint32_t key, const AccessLog::Entry& entry, std::string_view name) noexcept;

  // By bucket: one byte of each key's hash, and kNoRoom. Searches read this first; it is small
  // enough for the nearest cache.
  std::vector<std::uint64_t> prints_;
  std::vector<Least> least_;
  KeyRows rows_;
  std::uint64_t buckets_;
  AdmissionSketch sketch_;
  std::unique_ptr<DistinctKeys> distinct_;  // null: not asked for
  KeyNames names_;
  Sampler sampler_;
  CountLevel urgent_level_, worth_tracking_level_;
  std::uint64_t worth_tracking_;  // the level in this slot
  std::uint32_t factor_now_ = 1;  // the largest of the sampler's, by lap
  std::uint32_t factor_last_ = 1;
  std::uint64_t admissions_ = 0;
  std::uint32_t looks_left_ = 0;  // buckets that this drain may still search for a rarest key
  KeyTallies tallies_;
};

}  // namespace heatsink::detect
