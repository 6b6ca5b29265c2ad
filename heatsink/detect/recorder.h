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

namespace heatsink::detect {

inline constexpr std::size_t kRecorderBytesMin = 65'536;  // a smaller size is raised to this

struct RecorderOptions {
  Nanos window = std::chrono::seconds(10);
  // The window moves in steps of window / slots. 1 .. kSlotsMax; other values are clamped.
  std::uint32_t slots = 10;
  // Memory of this shard, whatever the number of distinct keys: about 4 keys per 1000 bytes.
  std::size_t memory_bytes = 2'500'000;
  // A key becomes urgent when its count in the window reaches this, and at each doubling. The parts
  // of this level and of the next are those of the shard's window when the last slot ended.
  CountLevel urgent_count = UINT64_MAX;
  // A key whose estimate in the window is lower displaces no other key. So the table stays calm
  // without busy keys, and a key is counted from about this count on. A quarter of summarize()'s
  // floor is enough.
  CountLevel worth_tracking = 0;
  std::uint64_t seed = 0;
  // Up to this rate of the shard each access is counted. Above it, keys that are not among the
  // busiest are counted from a random sample (Summary::sampled). A process that wants 10^6 in total
  // divides it by its number of shards.
  std::uint64_t lossless_per_second = 1'000'000;
  Dimension dimension = Dimension::kRequests;
  const TallyNames* names = nullptr;  // null: commands and clients are not counted
  bool has_distinct = false;          // enables distinct(): takes 10 KiB of the memory
  // Memory for Summary::templates, besides memory_bytes: about 4 templates per 1000 bytes. 0: they
  // are not counted.
  std::size_t template_bytes = 0;
};

// Belongs to one thread, which also calls summarize(). Fixed memory, allocated at construction. A
// tracked key is counted exactly from its admission on; its earlier count bounds the error, which
// leaves with the window (docs/design/detect.md). record() costs about 15 ns and never allocates;
// each 64th call counts the entries that the others have deferred. Time only has to be roughly
// right (a cached tick): it may stand still, and a step back counts as standing still.
class Recorder {
 public:
  explicit Recorder(const RecorderOptions& options);
  ~Recorder();
  Recorder(Recorder&&) noexcept;

  // Returns true if this access, or one of up to 63 deferred ones, made its key urgent: the caller
  // then calls summarize() at once. Each level is announced once, and again only after the count
  // has fallen below half of it.
  bool record(const Access& access, TimePoint now) noexcept {
    if (now >= due_ || !AccessLog::fits(access)) [[unlikely]]
      return record_now(access, now);
    log_.push(access);
    return log_.full() && drain_log();
  }

  // Counts the deferred accesses (at most 64); returns as record(). Call it at the end of an event
  // loop's turn, so that an idle thread has nothing pending. O(pending accesses).
  bool drain(TimePoint now) noexcept;

  // Counts the log of a thread without a recorder of its own, and clears it; returns as record().
  // The accesses count in the slot of `now`.
  bool take(AccessLog& log, TimePoint now) noexcept;

  // The window at `now`: totals, and the `keys_max` busiest keys with at least `floor` (its part is
  // one of this window), with their bounds. O(table).
  Summary summarize(TimePoint now, std::size_t keys_max, CountLevel floor = 0);

  // Totals of all accesses since construction.
  struct Totals {
    std::uint64_t requests = 0, writes = 0, hits = 0, bytes = 0;

    Totals& operator+=(const Totals& other);
  };
  Totals totals() const;

  // REQUIRES has_distinct. Estimates the number of different keys accessed in the window at `now`,
  // tracked or not. A tracked key costs extra only at its first access in each slot.
  DistinctSketch distinct(TimePoint now) noexcept;

  // Other levels from now on; see RecorderOptions. The counts stay.
  void set_levels(CountLevel urgent_count, CountLevel worth_tracking) noexcept;

  std::size_t memory_bytes() const;  // total; never changes
  std::size_t keys_max() const;      // keys tracked at once

 private:
  struct Table;

  bool record_now(const Access& access, TimePoint now) noexcept;
  bool drain_log() noexcept { return count(log_); }
  bool count(AccessLog& log) noexcept;
  bool advance(TimePoint now) noexcept;

  std::unique_ptr<Table> table_;
  TimePoint due_ = TimePoint::min();  // when the slot or the sample changes next
  AccessLog log_;
};

}  // namespace heatsink::detect
