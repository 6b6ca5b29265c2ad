// SPDX-License-Identifier: Apache-2.0
// One local copy of a reply. Published copies are immutable, except for one count.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/cache/read.h"

namespace heatsink::cache {

// Numbers the periods in which a tracker lost no invalidation. A copy of an older generation must
// not be served. No two ProofStates ever have the same number, but for 0, which no copy has.
struct Generation {
  std::uint64_t number = 0;
  friend bool operator==(Generation, Generation) = default;
};

// Which ProofState of the ProofStates a copy depends on: that of the server that it came from.
using ProofIndex = std::uint16_t;

// The fields that every hit reads share one cache line.
struct alignas(64) Copy {
  Generation generation;     // of the tracker when it sent the fill
  TimePoint fill_sent_at{};  // the clock is read before the first byte of the fill leaves
  TimePoint deadline{};      // fill_sent_at + the key's TTL, capped by the local maximum
  StoredRead read = {};      // the read that this copy answers
  std::string reply = {};    // in RESP3 wire form, ready to send
  std::string resp2 = {};    // the same in RESP2; empty: the RESP3 bytes serve both
  bool nil = false;          // the server replied that the key does not exist
  // Hits, at most kReadsCounted: later ones do not write, because all readers would contend for
  // this cache line. Hits at the same time may count as one.
  mutable std::atomic<std::uint8_t> reads{0};
  static constexpr std::uint8_t kReadsCounted = 32;
  ProofIndex proof = 0;
  // From fill_sent_at until the answer had come, rounded up. 32 bits, so that a copy fits into two
  // cache lines.
  std::uint32_t answer_took_us = 0;
  TimePoint value_ends = TimePoint::max();  // by the key's own TTL; max() without a TTL

  TimePoint answered_at() const noexcept {
    return fill_sent_at + std::chrono::microseconds(answer_took_us);
  }

  void mark_read() const noexcept {
    const std::uint8_t before = reads.load(std::memory_order_relaxed);
    if (before < kReadsCounted)
      reads.store(static_cast<std::uint8_t>(before + 1), std::memory_order_relaxed);
  }

  std::string_view reply_in(bool resp3) const noexcept {
    return resp3 || resp2.empty() ? std::string_view(reply) : std::string_view(resp2);
  }
};

}  // namespace heatsink::cache
