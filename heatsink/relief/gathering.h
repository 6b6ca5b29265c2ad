// SPDX-License-Identifier: Apache-2.0
// Holds a client's writes until they can be sent together with other clients' writes to the same
// key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/command/gathered_write.h"
#include "heatsink/relief/gather_windows.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

class WriteGatherer;

// The relief for writes. One per session; one worker's thread. Inactive unless a rule gathers
// writes. It outlives its gathered writes, because they count as in flight.
class Gathering final : public Relief, private GatheredWriter {
 public:
  // Both outlive it.
  Gathering(const WorkerParts& parts, const ReliefContext& client)
      : parts_(parts), client_(client) {}

  bool is_gathering() const { return gathered_ > 0; }
  bool is_on() const;  // it may gather a write, or does so now

  // While writes of this client are gathered, its other requests wait: they would overtake the
  // writes.
  Outcome arrives(const Request& request) {
    const bool overtakes = gathered_ > 0 && request.facts->gathered_as == GatherVerb::kNone;
    return overtakes ? drain() : Outcome::kPass;
  }
  // kAnswered: the write is gathered; its reply comes later, with the replies to the others.
  Outcome departs(const Request& request) {
    if (request.facts->gathered_as == GatherVerb::kNone || parts_.write_gatherer == nullptr)
      return Outcome::kPass;
    const Outcome outcome = gather(request);
    return outcome == Outcome::kPass && gathered_ > 0 ? drain() : outcome;
  }

 private:
  std::optional<GatherableWrite> may_gather(const Request& request) const;
  Outcome gather(const Request& request);
  Outcome drain();

  // GatheredWriter
  void answered(ReplyQueue::Ticket ticket, std::string_view wire, TimePoint read_at) override;
  void lost(ReplyQueue::Ticket ticket, bool silent, const std::string& reason) override;
  Requester& stop_gathering() override;

  const WorkerParts& parts_;
  const ReliefContext& client_;
  std::uint64_t gathered_ = 0;  // this client's writes without a reply yet
  GatherWindows::Group group_;  // of the latest gathered write
};

}  // namespace heatsink::proxy
