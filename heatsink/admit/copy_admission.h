// SPDX-License-Identifier: Apache-2.0
// Decides, in the threads that read, which reads earn their key a copy. Samples accesses for the
// Chooser.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "heatsink/admit/choice.h"
#include "heatsink/admit/chooser.h"
#include "heatsink/admit/sightings.h"
#include "heatsink/base/hash.h"

namespace heatsink::admit {

// The part that all readers and the Chooser's thread share. Any thread.
class AdmissionState {
 public:
  // `copies`: keys that may have a copy at most.
  explicit AdmissionState(std::size_t copies);

  // The Chooser's thread: what holds from now on. A reader may use the old values for a moment.
  // `reads`, `history`: as SightingCounter counts them.
  void publish(std::uint32_t reads, std::uint64_t history, std::uint64_t sample_mask);

  void set_reads_to_pay(std::uint32_t reads) {
    reads_to_pay_.store(reads, std::memory_order_relaxed);
  }

  std::uint32_t reads() const { return reads_.load(std::memory_order_relaxed); }
  std::uint64_t history() const { return history_.load(std::memory_order_relaxed); }
  std::uint32_t reads_to_pay() const {  // see Costs
    return reads_to_pay_.load(std::memory_order_relaxed);
  }
  bool samples(KeyHash key) const {
    return Chooser::is_sampled(key, sample_mask_.load(std::memory_order_relaxed));
  }
  // False: no read counts now, or none has counted so far, and so writes need not end counts. The
  // count of a key that is written meanwhile goes on when reads count again: its copy comes early,
  // which costs one fill.
  bool counts_reads() const { return reads() != Choice::kNever && sightings_.has_counts(); }
  Sightings& sightings() { return sightings_; }

 private:
  Sightings sightings_;
  std::atomic<std::uint32_t> reads_;
  std::atomic<std::uint64_t> history_;  // in reads of keys without a copy
  std::atomic<std::uint32_t> reads_to_pay_{1};
  std::atomic<std::uint64_t> sample_mask_{0};
};

struct SampledAccess {
  KeyHash key;
  bool is_write;
};

// One reader's: a thread's, or guarded by a lock.
class CopyAdmission {
 public:
  // `sampled_max`: accesses that it holds for take_sampled().
  explicit CopyAdmission(AdmissionState& state, std::size_t sampled_max = kSampledMax)
      : state_(state), counter_(state.sightings()), sampled_max_(sampled_max) {}

  // Begins to load what earns_copy() reads: one cache line, which mostly lies in memory.
  void load_count(KeyHash key) const {
    if (state_.reads() != Choice::kNever) state_.sightings().prefetch(key);
  }
  // A read of a key that has no copy, and could have one. True: it earns one now.
  bool earns_copy(KeyHash key) {
    forget_written();
    const std::uint32_t reads = state_.reads();
    return reads != Choice::kNever && counter_.see(key, state_.history()) >= reads;
  }
  std::uint32_t reads_to_pay() const { return state_.reads_to_pay(); }
  // The key is about to get a copy.
  void admitted(KeyHash key) { state_.sightings().forget(key); }

  // Each access of a key, whether a copy answers it or not.
  void saw(KeyHash key, bool is_write) {
    if (is_write && state_.counts_reads()) forget_soon(key);
    if (state_.samples(key) && !is_full()) sampled_.push_back({key, is_write});
  }
  // No further access is sampled before take_sampled().
  bool is_full() const { return sampled_.size() >= sampled_max_; }
  // The samples since the last call, for Chooser. Samples beyond sampled_max are lost.
  std::vector<SampledAccess> take_sampled() {
    forget_written();
    return std::exchange(sampled_, {});
  }
  static constexpr std::size_t kSampledMax = 8192;

 private:
  static constexpr std::uint32_t kWrittenMax = 16;

  // A written key's count is rarely in a near cache: those of several keys are fetched at once.
  // Before the next count of this reader they are forgotten.
  void forget_soon(KeyHash key) {
    state_.sightings().prefetch(key);
    written_[written_size_++] = key;
    if (written_size_ == kWrittenMax) forget_written();
  }
  void forget_written() {
    for (std::uint32_t i = 0; i < written_size_; ++i) state_.sightings().forget(written_[i]);
    written_size_ = 0;
  }

  AdmissionState& state_;
  SightingCounter counter_;
  std::array<KeyHash, kWrittenMax> written_{};
  std::uint32_t written_size_ = 0;
  const std::size_t sampled_max_;
  std::vector<SampledAccess> sampled_;
};

}  // namespace heatsink::admit
