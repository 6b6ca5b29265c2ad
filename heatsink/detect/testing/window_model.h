// SPDX-License-Identifier: Apache-2.0
// For tests: the sliding window by brute force, every key exact and memory unbounded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/access.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

struct ExactCount {
  std::uint64_t reads = 0, writes = 0, hits = 0, bytes = 0;
  std::uint64_t accesses() const { return reads + writes; }
};

// Not thread-safe. Keys are identified by their hash.
class WindowModel {
 public:
  WindowModel(Nanos window, std::uint32_t slots) : length_(window / slots), slots_(slots) {}

  void record(const Access& access, TimePoint now) {
    advance(now);
    add(slots_seen_.back().counts[access.hash.value], access, 1);
    add(window_[access.hash.value], access, 1);
    add(total_, access, 1);
  }

  void advance(TimePoint now) {
    const std::int64_t turn = now.time_since_epoch() / length_;
    if (slots_seen_.empty() || turn > slots_seen_.back().turn) slots_seen_.push_back({turn, {}});
    const std::int64_t oldest = slots_seen_.back().turn - slots_ + 1;
    while (slots_seen_.front().turn < oldest) {
      for (const auto& [hash, count] : slots_seen_.front().counts) forget(hash, count);
      slots_seen_.pop_front();
    }
  }

  ExactCount of(KeyHash hash) const {
    const auto found = window_.find(hash.value);
    return found == window_.end() ? ExactCount{} : found->second;
  }
  const ExactCount& total() const { return total_; }
  const std::unordered_map<std::uint64_t, ExactCount>& keys() const { return window_; }

  // The accesses of the n-th busiest key (from 1); 0 if there are fewer keys.
  std::uint64_t nth(std::size_t n) const {
    if (window_.size() < n) return 0;
    std::vector<std::uint64_t> counts;
    counts.reserve(window_.size());
    for (const auto& [hash, count] : window_) counts.push_back(count.accesses());
    const auto place = counts.begin() + static_cast<std::ptrdiff_t>(n - 1);
    std::nth_element(counts.begin(), place, counts.end(), std::greater<>());
    return *place;
  }

 private:
  struct Slot {
    std::int64_t turn;
    std::unordered_map<std::uint64_t, ExactCount> counts;
  };

  static void add(ExactCount& to, const Access& access, std::uint64_t n) {
    (access.kind == AccessKind::kWrite ? to.writes : to.reads) += n;
    to.hits += access.local_hit ? n : 0;
    to.bytes += access.bytes * n;
  }

  void forget(std::uint64_t hash, const ExactCount& count) {
    ExactCount& key = window_[hash];
    for (ExactCount* from : {&key, &total_}) {
      from->reads -= count.reads;
      from->writes -= count.writes;
      from->hits -= count.hits;
      from->bytes -= count.bytes;
    }
    if (key.accesses() == 0) window_.erase(hash);
  }

  Nanos length_;
  std::int64_t slots_;
  std::deque<Slot> slots_seen_;
  std::unordered_map<std::uint64_t, ExactCount> window_;
  ExactCount total_;
};

}  // namespace heatsink::detect
