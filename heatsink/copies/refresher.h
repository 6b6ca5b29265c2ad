// SPDX-License-Identifier: Apache-2.0
// Which copies are renewed before they end, so that no reader of a hot key waits for a fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/node_state.h"

namespace heatsink::copies {

// A copy that ends by the proxy's own bound (cache.expire-after-write) although its value lives on
// is asked for again ahead of that, if it has been read since it was filled (or its key is warmed).
// One that ends by the value's own TTL is not: asking earlier would not make the value live longer.
// What it asks for is a fill like any other; meanwhile the old copy is served.
//
// When: with one to two times refresh.ahead of its life left, drawn for each copy (as XFetch draws:
// Vattani, Chierichetti, Lowenstein, VLDB 2015), so that what was filled at once is not renewed at
// once. Here one thread asks, so the draw is made once and costs readers nothing.
//
// The keeper's thread. No clock, no socket.
class Refresher {
 public:
  static constexpr std::size_t kUnderWayMax =
      64;  // what is due beyond that waits for the next look

  Refresher(const NodeState& shared, Counters& counters) : shared_(shared), counters_(counters) {}

  // Every refresh.interval: what is to be asked for now, each of which ends in one filled().
  // O(copies).
  std::vector<FillRequest> due(TimePoint now);
  // How a fill has ended, whoever asked for it.
  void filled(const FillRequest& asked, FillOutcome outcome, TimePoint now);

 private:
  // A copy that is being renewed, or could not be.
  struct Attempt {
    TimePoint of{};  // the copy's fill_sent_at: with another copy all begins anew
    TimePoint not_before{};
    std::uint32_t failures = 0;
    bool under_way = false;
    std::uint64_t seen = 0;  // at which look
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

// When a copy of this read is to be renewed. `ahead`: refresh.ahead.
TimePoint renewal_of(const cache::Copy& copy, ReadHash which, double ahead);

}  // namespace heatsink::copies
