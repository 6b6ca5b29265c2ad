// SPDX-License-Identifier: Apache-2.0
// Reads and ends the copies that keys have on the nodes of a cluster, for the clients of one
// worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "heatsink/copies/effects.h"
#include "heatsink/policy/policy.h"
#include "heatsink/relief/spread_layouts.h"
#include "heatsink/relief/spread_parts.h"
#include "heatsink/relief/spread_read.h"
#include "heatsink/relief/spread_write.h"

namespace heatsink::proxy {

// The rules for copies are those of the room spread; this class carries them out. One worker's
// thread. Without a rule with spread.copies it does nothing, and costs nothing.
class SpreadKeys {
 public:
  // All outlive it. `release`: ends the hold of the client with this number.
  SpreadKeys(SharedState& shared, net::EventLoop& loop, copies::Counters& counters,
             Upstreams& upstreams, std::uint64_t seed, std::function<void(std::uint64_t)> release);
  SpreadKeys(const SpreadKeys&) = delete;

  // A read of this key has a copy to go to. False, too, in front of a single server; the log says
  // so. Valid for this turn.
  bool has_copies(std::string_view key, const policy::SpreadPolicy& policy,
                  resp::Protocol protocol);
  // REQUIRES has_copies(). `reader.client` gets the reply. `client`: the number of the client,
  // which keeps reading the same copy, so that it does not go back in time between two copies.
  void read(std::string_view key, const policy::SpreadPolicy& policy,
            const SpreadRead::Reader& reader, std::uint64_t client);
  // The reply of a command that has written these keys has come, or never will. Holds back the
  // client's replies until the copies have ended. `client` may be null.
  void written(SpreadKeysWritten&& keys, copies::HeldClient* client);

  // Sends what is due. Before the connections are flushed, and again while has_due().
  void end_turn();
  bool has_due() const { return !due_.empty(); }

 private:
  void begin_writes();

  SpreadParts parts_;
  SpreadLayouts layouts_;
  const std::function<void(std::uint64_t)> release_;
  std::vector<std::unique_ptr<SpreadRead>> reads_;
  std::vector<std::unique_ptr<SpreadWrite>> writes_;
  std::vector<SpreadWrite*> due_;
  bool have_ended_ = false;
};

}  // namespace heatsink::proxy
