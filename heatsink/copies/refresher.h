// SPDX-License-Identifier: Apache-2.0
// Renews copies before they end, so that no reader of a hot key waits for a fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/node_state.h"

namespace heatsink::copies {

// Renews a copy that would end by the proxy's own limit (cache.expire-after-write) while its value
// lives on, if the key is hot and the copy has had a hit since its fill (or the key is warmed). A
// copy that ends by the value's own TTL is not renewed: asking earlier would not extend the value's
// life. Nor is a copy that only pays: the next read fills it, and costs the server no more than
// without heatsink. A renewal is an ordinary fill; meanwhile the old copy is served.
//
// Time of a renewal: when one to two times refresh.ahead of the copy's life is left. The factor is
// drawn for each copy, so that copies filled together are not renewed together. XFetch draws
// similarly (Vattani, Chierichetti, Lowenstein, VLDB 2015); here one thread asks, so one draw per
// copy is enough and readers pay nothing.
//
// The keeper's thread. No clock, no socket.
class Refresher {
 public:
  static constexpr std::size_t kUnderWayMax =
      64;  // due copies beyond that wait for the next call of due()

  Refresher(const NodeState& shared, Counters& counters) : shared_(shared), counters_(counters) {}

  // Call it every refresh.interval. Returns the fills to request now; each must end in one
  // filled(). O(copies of hot keys).
  std::vector<FillRequest> due(TimePoint now);
  // Reports the outcome of a fill, whatever its source.
  void filled(const FillRequest& asked, FillOutcome outcome, TimePoint now);

 private:
  // A copy whose renewal is under way or has failed.
  struct Attempt {
    TimePoint of{};  // the copy's fill_sent_at; a new copy starts afresh
    TimePoint not_before{};
    std::uint32_t failures = 0;
    bool under_way = false;
    std::uint64_t seen = 0;  // the number of the last look that found it due
  };

  bool is_due(const cache::Entry& entry, const cache::Copy& copy, ReadHash which,
              TimePoint now) const;
  bool may_try(ReadHash which, const cache::Copy& copy, TimePoint now);
  FillRequest request_of(const cache::Entry& entry, const cache::Copy& copy, ReadHash which) const;

  const NodeState& shared_;
  Counters& counters_;
  std::unordered_map<std::uint64_t, Attempt> attempts_;  // by ReadHash
  std::size_t under_way_ = 0;
  std::uint64_t looks_ = 0;
};

// The time when a copy of this read should be renewed. `ahead`: refresh.ahead.
TimePoint renewal_of(const cache::Copy& copy, ReadHash which, double ahead);

}  // namespace heatsink::copies
