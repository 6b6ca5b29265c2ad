// SPDX-License-Identifier: Apache-2.0
// One fixed policy of those that AdaptivePolicy chooses from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/policy/copy_policy.h"
#include "bench/policy/key_queue.h"

namespace heatsink::bench {

// How a copy is chosen that makes room. Both orders need one flag per copy, which a hit sets.
enum class Order : std::uint8_t {
  kSieve,  // a copy with the flag stays where it is, and loses the flag
  kClock,  // ... becomes the newest, and loses the flag
};

struct CandidateRule {
  unsigned reads = 3;  // a key is copied at this read, 1 .. 100 ...
  Order order = Order::kClock;
  double history = 2;  // ... while it is among the last `history` * copies keys without a copy
};

// Keys are numbers 0 .. keys - 1. Not thread-safe. O(1) amortised. Memory: 12 bytes per key.
class Candidate {
 public:
  Candidate(std::size_t keys, std::size_t copies, const CandidateRule& rule)
      : links_(keys), keys_(keys), queue_(links_), recent_(links_), copies_(copies) {
    set_rule(rule);
  }
  Candidate(const Candidate&) = delete;  // the queues point to links_

  // Takes effect with the next call; copies stay.
  void set_rule(const CandidateRule& rule) {
    rule_ = rule;
    const double recent_max = rule.history * static_cast<double>(copies_);
    recent_max_ = std::max<std::size_t>(static_cast<std::size_t>(recent_max), 1);
  }

  // may_fill = false: the read is counted, but makes no copy.
  Outcome read(std::uint32_t key, bool may_fill = true) {
    State& state = keys_[key];
    if (state.held) {
      state.visited = true;
      state.served = true;
      return {.hit = true};
    }
    if (state.reads > 0) recent_.erase(key);
    if (state.reads < UINT8_MAX) ++state.reads;
    if (state.reads < rule_.reads || !may_fill) {
      remember(key);
      return {};
    }
    if (queue_.size() >= copies_) evict();
    queue_.push(key);
    state = {.held = true};
    return {.filled = true};
  }

  // True: there was a copy. A copy that has served a read is made again by the key's next read; any
  // other key starts again. (Measured with 10 % writes: if each write sends the key back to its
  // first read, the net is 2 to 7 points of 25 to 50 lower. If none does, it is 1 point higher, and
  // a key that is written as often as it is read costs fills for nothing.)
  bool write(std::uint32_t key) {
    State& state = keys_[key];
    if (!state.held) {
      if (state.reads > 0) recent_.erase(key);
      state.reads = 0;
      return false;
    }
    const bool again = state.served && rule_.reads > 1;
    drop(key);
    if (again) {
      state.reads = static_cast<std::uint8_t>(rule_.reads - 1);
      remember(key);
    }
    return true;
  }

 private:
  struct State {
    bool held = false;
    bool visited = false;
    bool served = false;
    std::uint8_t reads = 0;  // > 0: in recent_
  };

  // The history may be too long after set_rule(): it shrinks by one key per call.
  void remember(std::uint32_t key) {
    for (int i = 0; i < 2 && recent_.size() >= recent_max_; ++i) keys_[recent_.pop()].reads = 0;
    recent_.push(key);
  }

  void evict() {
    for (;;) {
      if (hand_ == kNoKey || rule_.order == Order::kClock) hand_ = queue_.oldest();
      const std::uint32_t key = hand_;
      if (!keys_[key].visited) return drop(key);
      keys_[key].visited = false;
      hand_ = queue_.newer(key);
      if (rule_.order == Order::kClock) queue_.renew(key);
    }
  }

  void drop(std::uint32_t key) {
    if (hand_ == key) hand_ = queue_.newer(key);
    queue_.erase(key);
    keys_[key] = {};
  }

  std::vector<KeyLink> links_;
  std::vector<State> keys_;
  KeyQueue queue_;   // keys with a copy, by the age of the copy
  KeyQueue recent_;  // keys without one, by their last read
  std::uint32_t hand_ = kNoKey;
  std::size_t copies_;
  std::size_t recent_max_ = 0;
  CandidateRule rule_;
};

}  // namespace heatsink::bench
