// SPDX-License-Identifier: Apache-2.0
// The bounded table of tracked keys: buckets of seven, evicted by count, guarded by a sketch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/detect/access_log.h"
#include "heatsink/detect/admission_sketch.h"
#include "heatsink/detect/distinct_keys.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/name_pool.h"
#include "heatsink/detect/sampling.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/tally_board.h"
#include "heatsink/detect/tracked_key.h"

namespace heatsink::detect {

struct KeyTableOptions {
  std::size_t memory_bytes = 0;
  std::uint64_t urgent_count = UINT64_MAX;
  std::uint64_t worth_tracking = 0;
  std::uint64_t lossless_per_second = UINT64_MAX;
  std::uint64_t seed = 0;
  Dimension dimension = Dimension::kRequests;
  const TallyNames* names = nullptr;
  bool has_distinct = false;  // counts different keys, too
};

// A key lives in the one bucket its hash names. An untracked key is counted in the sketch (when
// accesses come too fast: a random sample of its accesses) and takes the place of the bucket's
// rarest key once it is estimated to be more frequent: a burst of distinct keys therefore only
// displaces keys as rare as itself. A tracked key is counted exactly from its admission on; what it
// may have had before bounds the error and ends with the window. Not thread-safe, nothing is
// allocated after construction.
class KeyTable {
 public:
  explicit KeyTable(const KeyTableOptions& options);

  // Counts what the log holds, at the table's position, and clears it; `sum` is then what it held.
  // True when a key became urgent.
  bool drain(AccessLog& log, AccessLog::Amount& sum) noexcept;
  // Counts one access, whose name may be of any length; true as drain().
  bool count(const AccessLog::Entry& entry, std::string_view name) noexcept;

  void move(const SlotClock::Move& move, const Position& position);

  // When sampling is due to look at the rate again: move_sampling(), with all accesses ever seen.
  TimePoint sampling_due() const { return sampler_.next(); }
  void move_sampling(TimePoint now, std::uint64_t accesses) noexcept;

  // Fills keys, absent_max and sampled; totals are there already. O(table); rolls what it looks at.
  void summarize(Summary& out, std::size_t keys_max, std::uint64_t floor);

  // REQUIRES has_distinct. All keys that were accessed within the window, tracked or not.
  DistinctSketch distinct() const { return distinct_->window(); }

  std::size_t memory_bytes() const;  // but for the object itself
  std::size_t keys_max() const { return counts_.size(); }

 private:
  static constexpr std::uint32_t kWays = 7;
  // In a bucket's prints, above those of its keys: no way is empty (and none will be again).
  static constexpr std::uint64_t kNoRoom = std::uint64_t{1} << 56;
  // Larger values are always counted: so a sample of bytes has a bound.
  static constexpr std::uint32_t kSampledBytesMax = 4096;

  // The least rank in a bucket was at least `rank` in this turn.
  struct Least {
    std::uint32_t rank = 0;
    std::uint32_t turn = 0;
  };
  struct Candidate;
  static constexpr std::size_t kBucketBytes =
      sizeof(std::uint64_t) + sizeof(Least) + kWays * (sizeof(Counts) + sizeof(Details));

  // Keys are numbered: bucket * kWays + way.
  static std::uint32_t bucket_of(std::uint64_t tag, std::uint64_t buckets) noexcept {
    return static_cast<std::uint32_t>(((tag >> 32) * buckets) >> 32);
  }
  std::uint32_t bucket_of(std::uint64_t tag) const noexcept { return bucket_of(tag, buckets_); }
  bool has_room(std::uint32_t bucket) const { return (prints_[bucket] & kNoRoom) == 0; }
  static std::uint64_t matches(std::uint64_t prints, std::uint64_t tag) noexcept;
  // Of matches(): the first way; of none: kWays.
  static std::uint32_t way_of(std::uint64_t matches) {
    return static_cast<std::uint32_t>(std::countr_zero(matches | std::uint64_t{1} << 63)) / 8;
  }
  std::uint32_t find(std::uint64_t tag) const noexcept;

  // The entries of a log: those of known keys with the key's number, as far as a print tells.
  struct Sorted {
    struct Known {
      const AccessLog::Entry* entry;
      Counts* counts;
    };
    Known known[AccessLog::kEntries];
    std::uint32_t unknown[AccessLog::kEntries];
    std::uint32_t known_size, unknown_size;
    bool no_room;  // in any bucket of them all
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
  // REQUIRES: !has_room(). `name_of` is called for the few that may be admitted.
  template <Dimension kDimension, class NameOf>
  bool count_unknown(const AccessLog::Entry& entry, AdmissionSketch::CellIndex cells,
                     NameOf name_of) noexcept;
  void see(std::uint64_t tag) noexcept {
    if (distinct_ != nullptr) distinct_->add(tag, at_.slot);
  }
  bool ring(std::uint32_t key) noexcept;
  void tally(std::uint32_t key, const AccessLog::Entry& entry) noexcept;
  void roll_key(std::uint32_t key) noexcept;

  // Admission and eviction.
  std::uint32_t fill(const AccessLog::Entry& entry, std::string_view name) noexcept;
  std::uint32_t replace_rarest(const AccessLog::Entry& entry, std::string_view name,
                               const AdmissionSketch::Estimate& estimate,
                               std::uint32_t weight) noexcept;
  std::uint64_t rank(const Counts& counts) const noexcept;
  void evict(std::uint32_t key) noexcept;
  void take(std::uint32_t key, const AccessLog::Entry& entry, std::string_view name) noexcept;

  // Names.
  void store_name(std::uint32_t key, std::string_view name) noexcept;
  std::uint32_t store_end(std::string_view end, std::uint32_t owner, std::uint64_t count) noexcept;
  void drop_end(std::uint32_t owner) noexcept;

  // Summaries.
  void give_tally_places(std::span<const Candidate> busiest) noexcept;
  SampleBounds sample_bounds() const;
  KeyCount key_count(std::uint32_t key, const SampleBounds& sample, std::uint64_t total) const;

  // By bucket: a byte of each key's hash, and kNoRoom. What a search reads first, and small enough
  // to stay in the nearest cache.
  std::vector<std::uint64_t> prints_;
  std::vector<Least> least_;
  // By key. Apart, because what most accesses touch should lie on few lines and few pages.
  std::vector<Counts> counts_;
  std::vector<Details> details_;
  std::uint64_t buckets_;
  AdmissionSketch sketch_;
  std::unique_ptr<DistinctKeys> distinct_;  // null: nobody asks
  NamePool names_;
  Sampler sampler_;
  Dimension dimension_;
  std::uint64_t urgent_count_;
  std::uint64_t worth_tracking_;
  Position at_;
  std::uint32_t factor_now_ = 1;  // the largest of the sampler's, by lap
  std::uint32_t factor_last_ = 1;
  std::uint64_t admissions_ = 0;
  std::uint32_t looks_left_ = 0;  // how often this drain may still look for a rarest key
  const TallyNames* tally_names_;
  TallyBoard board_;
  std::uint32_t tally_factor_ = 1;  // each access of the sample for the board stands for so many
  std::uint64_t tally_left_;        // accesses of tracked keys, to the next one of it
};

}  // namespace heatsink::detect
