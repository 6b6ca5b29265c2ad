// SPDX-License-Identifier: Apache-2.0
// Gathers writes of a worker's clients to the same key and sends them to the server as one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/command/pending.h"
#include "heatsink/copies/counters.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/relief/gather_windows.h"

namespace heatsink::proxy {

// Sends gathered writes to the server: SharedWriteCarrier, or another one in tests.
class WriteCarrier {
 public:
  virtual ~WriteCarrier() = default;

  // A connection is ready and has used this database before, so gathering makes sense.
  virtual bool is_ready(std::string_view key, const GatheredWrite::Target& target) = 0;
  // The reason, for the client, why nothing can be sent now. nullopt: sending is possible.
  virtual std::optional<std::string> refusal(std::string_view key,
                                             const GatheredWrite::Target& target) = 0;
  // Sends `request`, which writes pending.keys. Its reply goes to pending.session or, without one,
  // to WriteGatherer. REQUIRES no refusal().
  virtual void send(std::string_view key, const GatheredWrite::Target& target,
                    std::string_view request, Pending&& pending) = 0;
};

// One worker's thread. A client gets its reply only after the combined write has been executed, so
// an acknowledged write is as safe as without gathering (docs/decisions/0018).
class WriteGatherer {
 public:
  // The rules say how long writes are gathered. All references outlive it.
  WriteGatherer(copies::NodeState& shared, net::EventLoop& loop, copies::Counters& counters,
                std::unique_ptr<WriteCarrier> carrier)
      : shared_(shared), loop_(loop), counters_(counters), carrier_(std::move(carrier)) {}
  WriteGatherer(const WriteGatherer&) = delete;

  bool is_on() const { return !shared_.current().gathering_windows.empty(); }
  // How long writes of this key are gathered; 0: they are not.
  Nanos window_of(std::string_view key) const;
  bool may_send(std::string_view key, const GatheredWrite::Target& target) {
    return carrier_->is_ready(key, target);
  }
  bool waits(GatherWindows::Group group, Nanos window, TimePoint now) {
    return windows_.ask(group, window, now) == GatherWindows::Turn::kGather;
  }
  // Gathers the write, whose client gets one call of GatheredWriter later. False: no room. REQUIRES
  // that waits() returned true.
  bool join(GatherWindows::Group group, GatherKind kind, std::string_view key,
            const GatheredWrite::Target& target, const GatheredWrite::Part& part);

  // The connection calls these for the request with this number.
  void answered(std::uint32_t number, std::string_view reply, TimePoint read_at);
  void lost(std::uint32_t number, const std::string& reason);

 private:
  void send(GatherWindows::Group group);
  void send_each(const GatheredWrite& write);

  copies::NodeState& shared_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  const std::unique_ptr<WriteCarrier> carrier_;
  GatherWindows windows_;
  std::unordered_map<std::uint32_t, GatheredWrite> on_their_way_;
  std::uint32_t last_number_ = 0;
};

}  // namespace heatsink::proxy
