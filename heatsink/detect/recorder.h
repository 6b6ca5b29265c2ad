// SPDX-License-Identifier: Apache-2.0
// Counts accesses per key over a sliding window, in fixed memory: one shard per thread, no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/detect/access.h"
#include "heatsink/detect/access_log.h"
#include "heatsink/detect/distinct_keys.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/tally_names.h"

namespace heatsink::detect {

inline constexpr std::size_t kRecorderBytesMin = 65'536;  // less is taken as this

struct RecorderOptions {
  Nanos window = std::chrono::seconds(10);
  // The window turns in steps of window / slots. 1 .. kSlotsMax; else the nearest is taken.
  std::uint32_t slots = 10;
  // All of this shard, whatever the number of distinct keys: about 4 keys per 1000 bytes.
  std::size_t memory_bytes = 2'500'000;
  // A key whose count in the window reaches this, and each doubling of it, is urgent.
  std::uint64_t urgent_count = UINT64_MAX;
  // A key that is estimated at fewer than this in the window displaces no other. The table is quiet
  // then where nothing is busy, and a key that gets busy is counted from about here on. A quarter
  // of the floor that summarize() is given is enough for what it lists.
  std::uint64_t worth_tracking = 0;
  std::uint64_t seed = 0;
  // Up to so many accesses per second of this shard every access is counted; above, keys that are
  // not among the busiest are counted by a random sample (Summary.sampled). A process that wants
  // 10^6 in all divides them among its shards.
  std::uint64_t lossless_per_second = 1'000'000;
  Dimension dimension = Dimension::kRequests;
  const TallyNames* names = nullptr;  // null: commands and clients are not told
  bool has_distinct = false;          // distinct() is asked for: 10 KiB of the memory
};

// Belongs to one thread, which also calls summarize(). Fixed memory, allocated at construction.
// A tracked key is counted exactly from its admission on; what it had before bounds the error,
// which ends with the window (docs/design/detect.md). record() costs about 15 ns and never
// allocates; each 64th call counts what the others have put off. Time only has to be roughly right
// (a cached tick); it may stand still, and a step back counts as standing still.
class Recorder {
 public:
  explicit Recorder(const RecorderOptions& options);
  ~Recorder();
  Recorder(Recorder&&) noexcept;

  // True when this access, or one of up to 63 before it that waited, made its key urgent: the
  // caller then calls summarize() at once. Each level is told once, and again only after the count
  // has fallen below half of it.
  bool record(const Access& access, TimePoint now) noexcept {
    if (now >= due_ || !AccessLog::fits(access)) [[unlikely]]
      return record_now(access, now);
    log_.push(access);
    return log_.full() && drain_log();
  }

  // Counts what record() has put off (at most 64 accesses); true as there. For the end of an event
  // loop's turn, so that a thread that falls idle has nothing pending. O(what is pending).
  bool drain(TimePoint now) noexcept;

  // Counts another log, of a thread that has no recorder of its own, and clears it; true as
  // record(). Its accesses are credited to the slot of `now`.
  bool take(AccessLog& log, TimePoint now) noexcept;

  // The window as it stands at `now`: totals, and of the keys with at least `floor` the `keys_max`
  // busiest, with their bounds. O(table).
  Summary summarize(TimePoint now, std::size_t keys_max, std::uint64_t floor = 0);

  // Of all accesses since it was made.
  struct Totals {
    std::uint64_t requests = 0, writes = 0, hits = 0, bytes = 0;

    Totals& operator+=(const Totals& other);
  };
  Totals totals() const;

  // REQUIRES has_distinct. About how many different keys were accessed in the window as it stands
  // at `now`, whatever is tracked of them. A tracked key costs nothing but at its first access in
  // each slot.
  DistinctSketch distinct(TimePoint now) noexcept;

  std::size_t memory_bytes() const;  // all of it; never changes
  std::size_t keys_max() const;      // how many keys are tracked at once

 private:
  struct Table;

  bool record_now(const Access& access, TimePoint now) noexcept;
  bool drain_log() noexcept { return count(log_); }
  bool count(AccessLog& log) noexcept;
  bool advance(TimePoint now) noexcept;

  std::unique_ptr<Table> table_;
  TimePoint due_ = TimePoint::min();  // when the slot, or the sample, is to change
  AccessLog log_;
};

}  // namespace heatsink::detect
