// SPDX-License-Identifier: Apache-2.0
// Sends a client's reads of keys with copies on several nodes to one of these copies.
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

// The relief for spread.copies. One per session; one worker's thread. Inactive unless a rule
// spreads keys.
class SpreadReads final : public Relief {
 public:
  // Both outlive it.
  SpreadReads(const WorkerParts& parts, const ReliefContext& client)
      : parts_(parts), client_(client) {}

  // The key has a rule with spread.*, so its reads are no plain reads.
  bool applies(std::string_view key) const {
    return parts_.spread != nullptr && parts_.shared.current().spread_of(key) != nullptr;
  }
  // Some of its reads are in flight, or a key has such a rule.
  bool is_on() const {
    return read_until_ > client_.traffic.received || !parts_.shared.current().spreads.empty();
  }
  // A copy is on another connection than the key: a later write must not overtake a read of it.
  Outcome arrives(const Request& request) {
    if (read_until_ <= client_.traffic.received) return Outcome::kPass;
    const bool only_reads = request.command != nullptr && request.command->has(resp::kReadonly);
    return only_reads ? Outcome::kPass : drain();
  }
  // kAnswered: a copy answers, or the key itself.
  Outcome departs(const Request& request) {
    const bool reads = request.facts->spread_as == SpreadVerb::kGet && parts_.spread != nullptr;
    return reads ? read(request) : Outcome::kPass;
  }

 private:
  bool may_read(const Request& request) const;
  bool has_room(const Request& request) const;
  Outcome read(const Request& request);
  Outcome drain() {
    client_.session.hold_until_drained();
    return Outcome::kWaits;
  }

  const WorkerParts& parts_;
  const ReliefContext& client_;
  std::uint64_t read_until_ = 0;  // this many replies received: none of its reads is in flight
};

}  // namespace heatsink::proxy
