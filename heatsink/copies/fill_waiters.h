// SPDX-License-Identifier: Apache-2.0
// The clients of one worker that wait for the same read of the same key (single-flight).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/cache/read.h"
#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {

// What came of a fill, for all who waited for it.
struct FillAnswer {
  ReadHash which;
  KeyHash key;
  cache::StoredRead read;  // whoever waited for another read of the same hash can tell
  cache::ConsistencyPolicy consistency = {};  // the key's
  TimePoint sent_at{};
  TimePoint value_ends = TimePoint::max();  // by its own TTL, at the earliest
  bool usable = false;                      // false: ask the server yourself
  bool refused = false;                     // and it is in vain to ask the tracker again soon
  bool nil = false;                         // no such key
  std::string reply;                        // in wire form
  std::string resp2;                        // likewise for RESP2 clients; empty: the same

  std::string_view reply_in(bool resp3) const {
    return resp3 || resp2.empty() ? std::string_view(reply) : std::string_view(resp2);
  }
};

// One worker's thread. Bounded by waiters_max per read.
class FillWaiters {
 public:
  explicit FillWaiters(std::size_t waiters_max) : waiters_max_(waiters_max) {}

  enum class JoinResult : std::uint8_t { kFull, kJoined, kAskKeeper };

  static constexpr std::uint64_t kNobody = 0;

  // The session (or kNobody, who wants the copy but not to wait) waits for a fill sent after
  // `fence`: only such a one can be trusted by somebody who has seen (or made) what the fence
  // stands for. It joins the one already asked for if that will do; else the caller asks the keeper
  // for a new one with this fence.
  JoinResult join(ReadHash which, std::uint64_t session, TimePoint fence) {
    Group& group = groups_[which.value];
    if (group.sessions.size() >= waiters_max_) {
      if (group.sessions.empty()) groups_.erase(which.value);
      return JoinResult::kFull;
    }
    const bool joins = !group.sessions.empty() && fence <= group.asked_fence;
    if (joins && session == kNobody) return JoinResult::kJoined;
    group.sessions.push_back({session, fence});
    if (joins) return JoinResult::kJoined;
    group.asked_fence = fence;
    return JoinResult::kAskKeeper;
  }

  // Whether join() would say kJoined.
  bool joins(ReadHash which, TimePoint fence) const {
    const auto found = groups_.find(which.value);
    return found != groups_.end() && !found->second.sessions.empty() &&
           found->second.sessions.size() < waiters_max_ && fence <= found->second.asked_fence;
  }

  // Those for whom this answer is good, removed from the list; the others asked for a later fill,
  // which will be answered too.
  std::vector<std::uint64_t> take(const FillAnswer& answer) {
    std::vector<std::uint64_t> ready;
    const auto found = groups_.find(answer.which.value);
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

}  // namespace heatsink::copies
