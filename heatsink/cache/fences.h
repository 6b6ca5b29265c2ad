// SPDX-License-Identifier: Apache-2.0
// Tells for each hot key the time before which no fill is trusted, and whether writes of its name
// are in flight.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/cache/entry.h"
#include "heatsink/cache/hot_table.h"
#include "heatsink/cache/write_counting.h"

namespace heatsink::cache {

// A key's fence stands in its entry (docs/decisions/0099). A key that is not in the table needs
// none: its fence begins when it enters, and no older fill makes a copy of it. So what the proxy
// passes on for other keys costs a look-up and ends no copy.
//
// Writes in flight are counted for all names, because a key may enter the table meanwhile; while
// the table is empty, they need not be (WriteCounting). The counters are striped by the hash of the
// name; a name that shares one is not served while the other's write is in flight. Both go by names
// without databases: a write in any database counts for its name in all of them.
//
// Lock-free. Online readers of the table's epochs, and the table's writer; load(), raise_unknown()
// and raise_all() any thread. 512 KiB.
class Fences {
 public:
  explicit Fences(const HotTable& table) : table_(table) {}
  Fences(const Fences&) = delete;

  // Whether the next write has to be counted; see there.
  WriteCounting& counting() noexcept { return counting_; }

  // The proxy is about to forward a write of the name.
  void write_begins(NameHash name) noexcept { counter(name).fetch_add(1); }

  // The reply has arrived, or its outcome will stay unknown. REQUIRES that `now` was read after the
  // reply: a fill that saw the value before the write was sent before `now`. Call it before the
  // reply goes to the client.
  void write_ends(NameHash name, TimePoint now) noexcept;

  // The proxy has shown a client, or is about to show it, what the server replied at `now` or
  // earlier. Of the name in all databases: of a write.
  void raise(NameHash name, TimePoint now) noexcept;
  // Raises the fence of the key in its own database only, for a read.
  void raise(KeyHash key, TimePoint now) noexcept { table_.raise_fence(key, now); }

  // Like raise(), for a command whose keys are unknown. It ends no copy: the server pushes
  // invalidations for the names concerned, and a barrier waits for them. But readers that ask later
  // may not join a fill that was sent earlier.
  void raise_unknown(TimePoint now) noexcept { raise_to(unknown_, now); }

  // Like raise(), for all names: ends every copy that was requested at `now` or earlier.
  void raise_all(TimePoint now) noexcept { raise_to(all_, now); }

  TimePoint fence(const Entry& entry) const noexcept {
    return std::max(entry.fence(), time_of(all_));
  }
  // A reader that joins a fill now needs one that was sent after this time. `fence`: of the key's
  // entry, or a time at which the key was in no table.
  TimePoint fence_to_join(TimePoint fence) const noexcept {
    return std::max({fence, time_of(all_), time_of(unknown_)});
  }
  // True, too, while writes are in flight whose names are unknown. The order of the loads matters:
  // a write that was counted after the first one was sent after it.
  bool write_in_flight(NameHash name) const noexcept {
    return !counting_.all_counted() || counted_in_flight(name);
  }
  // Of the writes that are counted.
  bool counted_in_flight(NameHash name) const noexcept { return counter(name).load() > 0; }
  // Begins to load what write_in_flight() reads.
  void load(NameHash name) const noexcept { __builtin_prefetch(&counter(name)); }

 private:
  using Counter = std::atomic<std::uint32_t>;
  static constexpr std::size_t kCounters = 1 << 17;

  static TimePoint time_of(const std::atomic<std::int64_t>& fence) noexcept {
    return TimePoint(Nanos(fence.load(std::memory_order_acquire)));
  }
  static std::size_t place_of(NameHash name) noexcept { return name.value & (kCounters - 1); }
  Counter& counter(NameHash name) const noexcept { return writes_in_flight_[place_of(name)]; }

  const HotTable& table_;
  WriteCounting counting_;
  alignas(64) std::atomic<std::int64_t> unknown_{0};
  alignas(64) std::atomic<std::int64_t> all_{0};
  const std::unique_ptr<Counter[]> writes_in_flight_{new Counter[kCounters]()};
};

}  // namespace heatsink::cache
