// SPDX-License-Identifier: Apache-2.0
// The clients of one worker that wait for the same local copy (single-flight).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// What came of a fill, for all who waited for it.
struct FillAnswer {
  KeyHash hash;
  TimePoint sent_at{};
  bool usable = false;  // false: ask the server yourself
  bool nil = false;
  std::string reply;  // in wire form; empty for nil
};

// One worker's thread. Bounded by waiters_max per key.
class FillWaiters {
 public:
  explicit FillWaiters(std::size_t waiters_max) : waiters_max_(waiters_max) {}

  enum class Join : std::uint8_t { kFull, kJoined, kAskKeeper };

  // The session waits for a fill sent after `fence`: only such a one can be trusted by somebody who
  // has seen (or made) what the fence stands for. It joins the one already asked for if that will
  // do; else the caller asks the keeper for a new one with this fence.
  Join join(KeyHash hash, std::uint64_t session, TimePoint fence) {
    Group& group = groups_[hash.value];
    if (group.sessions.size() >= waiters_max_) {
      if (group.sessions.empty()) groups_.erase(hash.value);
      return Join::kFull;
    }
    const bool joins = !group.sessions.empty() && fence <= group.asked_fence;
    group.sessions.push_back({session, fence});
    if (joins) return Join::kJoined;
    group.asked_fence = fence;
    return Join::kAskKeeper;
  }

  // Those for whom this answer is good, removed from the list; the others asked for a later fill,
  // which will be answered too.
  std::vector<std::uint64_t> take(const FillAnswer& answer) {
    std::vector<std::uint64_t> ready;
    const auto found = groups_.find(answer.hash.value);
    if (found == groups_.end()) return ready;
    std::vector<Waiter> later;
    for (const Waiter& waiter : found->second.sessions) {
      const bool good = !answer.usable || answer.sent_at > waiter.fence;
      if (good) {
        ready.push_back(waiter.session);
      } else {
        later.push_back(waiter);
      }
    }
    if (later.empty()) {
      groups_.erase(found);
    } else {
      found->second.sessions = std::move(later);
    }
    return ready;
  }

 private:
  struct Waiter {
    std::uint64_t session;
    TimePoint fence;
  };
  struct Group {
    TimePoint asked_fence{};  // of the latest request to the keeper
    std::vector<Waiter> sessions;
  };

  const std::size_t waiters_max_;
  std::unordered_map<std::uint64_t, Group> groups_;
};

}  // namespace heatsink::proxy
