// SPDX-License-Identifier: Apache-2.0
// Counts accesses per key over a sliding window, in fixed memory: one shard per thread, no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/detect/access.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

inline constexpr std::size_t kRecorderBytesMin = 65'536;  // less is taken as this

struct RecorderOptions {
  Nanos window = std::chrono::seconds(10);
  std::uint32_t slots =
      10;  // 1 .. kSlotsMax, else the nearest: the window turns in steps of window / slots
  std::size_t memory_bytes = 2'500'000;  // all of this shard, whatever the number of distinct keys
  std::uint64_t urgent_count = UINT64_MAX;  // a key whose count in the window reaches this (and
                                            // each doubling of it) is urgent
  std::uint64_t seed = 0;
};

// Belongs to one thread, which also calls summarize(). Fixed memory, allocated at construction.
// Time only has to be roughly right (a cached tick); it may stand still, and a step back counts as
// standing still.
class Recorder {
 public:
  explicit Recorder(const RecorderOptions& options);
  ~Recorder();
  Recorder(Recorder&&) noexcept;

  // True when this access made the key urgent: the caller then calls summarize() now, not at the
  // tick.
  bool record(const Access& access, TimePoint now) noexcept;

  // The window as it stands at `now`: totals, and the `keys_max` busiest keys with their bounds.
  // O(table).
  Summary summarize(TimePoint now, std::size_t keys_max) const;

  std::size_t memory_bytes() const;  // all of it; never changes
  std::size_t keys_max() const;      // how many keys are tracked at once

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

}  // namespace heatsink::detect
