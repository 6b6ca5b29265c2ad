// SPDX-License-Identifier: Apache-2.0
// Holds what the masters of a cluster have proven of slots: which of them owns a slot, and when.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/resp/resp.h"
#include "heatsink/topology/slot_map.h"

namespace heatsink::topology {

// One writer; any thread reads, without a lock. 384 KiB once a slot is proven.
class SlotProofs {
 public:
  struct Proof {
    NodeIndex master = kNoNode;
    // All proofs said that the master owns the slot and that no key has left it. The first one was
    // true at `since` at the latest, the last one at `until` at the earliest, so `since` is after
    // `until` while there is only one. min(): nothing is proven.
    TimePoint since = TimePoint::min();
    TimePoint until = TimePoint::min();
  };

  SlotProofs() = default;
  ~SlotProofs() { delete cells_.load(); }
  SlotProofs(const SlotProofs&) = delete;

  Proof of(std::uint16_t slot) const noexcept {
    const Cells* const cells = cells_.load(std::memory_order_acquire);
    if (cells == nullptr) return {};
    const Cell& cell = (*cells)[slot];
    // In the reverse order of prove(), so a mixture of two proofs is weaker than both.
    const std::int64_t until = cell.until.load(std::memory_order_acquire);
    const NodeIndex master = cell.master.load(std::memory_order_acquire);
    const std::int64_t since = cell.since.load(std::memory_order_acquire);
    return {master, TimePoint(Nanos(since)), TimePoint(Nanos(until))};
  }

  // The writer: this master has proven the slot at some time between the two.
  void prove(std::uint16_t slot, NodeIndex master, TimePoint asked_at, TimePoint answered_at) {
    if (cells_.load() == nullptr) cells_.store(new Cells(), std::memory_order_release);
    Cell& cell = (*cells_.load())[slot];
    const std::int64_t until = asked_at.time_since_epoch().count();
    const std::int64_t before = cell.until.load(std::memory_order_relaxed);
    if (before != kNever && cell.master.load(std::memory_order_relaxed) == master) {
      if (until > before) cell.until.store(until, std::memory_order_release);
      return;
    }
    end(slot);
    cell.since.store(answered_at.time_since_epoch().count(), std::memory_order_release);
    cell.master.store(master, std::memory_order_release);
    cell.until.store(until, std::memory_order_release);
  }
  // The writer: the slot may be another master's, or keys of it are being moved.
  void end(std::uint16_t slot) {
    Cells* const cells = cells_.load();
    if (cells != nullptr) (*cells)[slot].until.store(kNever, std::memory_order_release);
  }

 private:
  static constexpr std::int64_t kNever = TimePoint::min().time_since_epoch().count();
  struct Cell {
    std::atomic<std::int64_t> since{kNever}, until{kNever};
    std::atomic<NodeIndex> master{kNoNode};
  };
  using Cells = std::array<Cell, resp::kSlots>;

  std::atomic<Cells*> cells_{nullptr};
};

}  // namespace heatsink::topology
