// SPDX-License-Identifier: Apache-2.0
// Decides whether writes in flight are counted: workers need not while no key is hot.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/cache/epochs.h"

namespace heatsink::cache {

// Counting a write in flight misses the processor's cache twice: 10 % of what a SET costs. While
// no key is in the hot table there is no copy that a write could end. So workers then only count
// how many writes each of them has sent uncounted (docs/decisions/0105).
//
// A copy may be served only while all writes in flight are counted (Fences::write_in_flight()). So
// before the first copy is served, three things happen in this order:
//  1. The writer lets workers count. From now on a worker that looks counts.
//  2. Each worker ends its turn, or sleeps (Epochs). A worker that had looked before has added its
//     write to its number by then, and the writer sees the number. So no number grows any more.
//  3. Each number is zero: the uncounted writes have their replies. Each worker raised the key's
//     fence before it lowered its number, so who sees all_counted() sees that fence, too.
// Keys enter the table and fills are sent meanwhile: a fence needs only that the key was in the
// table before its fill was sent (docs/decisions/0099).
//
// Backwards, when the table is empty: all_counted() ends first. A reader that saw it before may
// still serve a copy that it found before. Writes that are sent uncounted were sent after that
// reader's request, and its answer is that of the moment at which it looked.
//
// Counting begins on, so that tables without a keeper need nothing.
class WriteCounting {
 public:
  // The table has been empty for so long: copies that come and go do not wait each time.
  static constexpr Nanos kEmptyFor = Millis(100);

  WriteCounting() = default;
  WriteCounting(const WriteCounting&) = delete;

  // Workers, by number, as online readers of the epochs. False: call sent_uncounted() instead of
  // counting the write, before the write is sent.
  bool counts() const noexcept { return counts_.load(); }
  void sent_uncounted(std::size_t worker) noexcept {
    std::atomic<std::uint32_t>& own = uncounted_[worker].writes;  // no other thread writes it
    own.store(own.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // After the fences know of its reply, or that none will come.
  void ended_uncounted(std::size_t worker) noexcept {
    std::atomic<std::uint32_t>& own = uncounted_[worker].writes;
    own.store(own.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }

  // Any thread. True: each write in flight is counted.
  bool all_counted() const noexcept { return all_counted_.load(); }

  // The table's writer, in each turn. True: call it again within a millisecond, because writes are
  // uncounted and keys wait for them. O(1) mostly.
  bool follow(bool is_empty, Epochs& epochs, TimePoint now);

 private:
  struct alignas(64) Uncounted {
    std::atomic<std::uint32_t> writes{0};
  };

  bool has_uncounted() const noexcept;

  alignas(64) std::atomic<bool> counts_{true};
  std::atomic<bool> all_counted_{true};
  alignas(64) std::array<Uncounted, Epochs::kReadersMax> uncounted_;
  // The writer's.
  std::optional<std::uint64_t> awaited_;  // the epoch of step 2, until all readers have reached it
  TimePoint had_keys_at_{};
};

}  // namespace heatsink::cache
