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
#include "heatsink/cache/copy.h"
#include "heatsink/cache/read.h"
#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {

// The result of a fill, for all clients that waited for it.
struct FillAnswer {
  ReadHash which;
  KeyHash key;
  cache::StoredRead read;                     // tells apart reads that share a hash
  cache::ConsistencyPolicy consistency = {};  // of the key
  TimePoint sent_at{};
  cache::ProofIndex proof = 0;              // of the server that answered
  TimePoint value_ends = TimePoint::max();  // by its own TTL, at the earliest
  bool usable = false;                      // false: the client must ask the server itself
  bool refused = false;                     // the tracker would refuse this read again
  bool nil = false;                         // the key does not exist
  std::string reply;                        // in RESP3 wire form
  std::string resp2;                        // the same in RESP2; empty: the RESP3 bytes serve both

  std::string_view reply_in(bool resp3) const {
    return resp3 || resp2.empty() ? std::string_view(reply) : std::string_view(resp2);
  }
};

// One worker's thread. At most waiters_max waiters per read.
class FillWaiters {
 public:
  explicit FillWaiters(std::size_t waiters_max) : waiters_max_(waiters_max) {}

  void set_max(std::size_t waiters_max) { waiters_max_ = waiters_max; }

  enum class JoinResult : std::uint8_t { kFull, kJoined, kAskKeeper };

  static constexpr std::uint64_t kNoSession = 0;

  // Adds the session to the waiters for a fill sent after `fence`: a client that has seen (or made)
  // a change must not get an older fill. kNoSession wants the copy without waiting. The session
  // joins a requested fill if that is late enough. Otherwise the caller must request a new one from
  // the keeper, with this fence.
  JoinResult join(ReadHash which, std::uint64_t session, TimePoint fence) {
    Group& group = groups_[which.value];
    if (group.sessions.size() >= waiters_max_) {
      if (group.sessions.empty()) groups_.erase(which.value);
      return JoinResult::kFull;
    }
    const bool joins = !group.sessions.empty() && fence <= group.asked_fence;
    if (joins && session == kNoSession) return JoinResult::kJoined;
    group.sessions.push_back({session, fence});
    if (joins) return JoinResult::kJoined;
    group.asked_fence = fence;
    return JoinResult::kAskKeeper;
  }

  // True if join() would return kJoined.
  bool joins(ReadHash which, TimePoint fence) const {
    const auto found = groups_.find(which.value);
    return found != groups_.end() && !found->second.sessions.empty() &&
           found->second.sessions.size() < waiters_max_ && fence <= found->second.asked_fence;
  }

  // Removes and returns the sessions that may use this answer. The others wait for a later fill,
  // which will be answered, too.
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

  std::size_t waiters_max_;
  std::unordered_map<std::uint64_t, Group> groups_;
};

}  // namespace heatsink::copies
