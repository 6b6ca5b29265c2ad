// SPDX-License-Identifier: Apache-2.0
// Publishes to all readers which generation of copies is valid, and when the server last proved it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heatsink/cache/copy.h"

namespace heatsink::cache {

// The tracker's thread writes it; any thread reads it. All operations are lock-free. It has a cache
// line of its own because every hit reads it.
class alignas(64) ProofState {
 public:
  Generation generation() const noexcept { return {generation_.load(std::memory_order_acquire)}; }

  // The send time of the last heartbeat whose reply the tracker has processed.
  TimePoint proven_at() const noexcept {
    return TimePoint(Nanos(proven_at_.load(std::memory_order_acquire)));
  }

  // Others have confirmed that the server is the master: a majority of them was asked then or
  // later. max(): in this topology nobody is asked.
  TimePoint confirmed_at() const noexcept {
    return TimePoint(Nanos(confirmed_at_.load(std::memory_order_acquire)));
  }

  // The same for a node of a cluster, at Level::kSession: a client whose last reply is not older
  // may not be shown a copy. max(): of no cluster.
  TimePoint voted_at() const noexcept {
    return TimePoint(Nanos(voted_at_.load(std::memory_order_acquire)));
  }

  // All exchanges of databases (SWAPDB) before then have ended the copies: no invalidation tells of
  // them. max(): this server has none, or does not tell.
  TimePoint exchanges_known_at() const noexcept {
    return TimePoint(Nanos(exchanges_known_at_.load(std::memory_order_acquire)));
  }

  // True while the tracker is connected and proven, so that a fill makes sense.
  bool up() const noexcept { return up_.load(std::memory_order_acquire); }

  // Tracker's thread. No existing copy may be served from now on. Call it before the next prove():
  // a proof covers the generation that is current when it is given, and all invalidations applied
  // by then.
  Generation begin_generation() noexcept {
    const std::uint64_t number = last_number.fetch_add(1, std::memory_order_acq_rel) + 1;
    generation_.store(number, std::memory_order_release);
    return {number};
  }
  void prove(TimePoint heartbeat_sent_at) noexcept {
    proven_at_.store(heartbeat_sent_at.time_since_epoch().count(), std::memory_order_release);
  }
  // Call it after the begin_generation() that another master needs.
  void confirm(TimePoint asked_at) noexcept {
    confirmed_at_.store(asked_at.time_since_epoch().count(), std::memory_order_release);
  }
  // A node of a cluster: both, by a majority of the masters.
  void confirm_by_voters(TimePoint asked_at) noexcept {
    confirm(asked_at);
    voted_at_.store(asked_at.time_since_epoch().count(), std::memory_order_release);
  }
  // Call it after the begin_generation() that an exchange needs.
  void know_exchanges(TimePoint asked_at) noexcept {
    exchanges_known_at_.store(asked_at.time_since_epoch().count(), std::memory_order_release);
  }
  void set_up(bool up) noexcept { up_.store(up, std::memory_order_release); }

 private:
  static inline std::atomic<std::uint64_t> last_number{0};  // of all objects
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::int64_t> proven_at_{0};
  std::atomic<std::int64_t> confirmed_at_{TimePoint::max().time_since_epoch().count()};
  std::atomic<std::int64_t> voted_at_{TimePoint::max().time_since_epoch().count()};
  std::atomic<std::int64_t> exchanges_known_at_{TimePoint::max().time_since_epoch().count()};
  std::atomic<bool> up_{false};
};

// The proof of each server that copies come from. The first is that of a single server; the nodes
// of a cluster have the others. Fixed size, 64 KiB.
class ProofStates {
 public:
  static constexpr std::size_t kMax = 1025;

  ProofState& operator[](ProofIndex index) noexcept { return states_[index]; }
  const ProofState& operator[](ProofIndex index) const noexcept { return states_[index]; }

 private:
  std::array<ProofState, kMax> states_;
};

}  // namespace heatsink::cache
