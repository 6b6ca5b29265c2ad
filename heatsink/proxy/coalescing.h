// SPDX-License-Identifier: Apache-2.0
// Gathers the writes of a worker's clients to one key and sends them to the server as one.
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
#include "heatsink/copies/counters.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/options.h"
#include "heatsink/proxy/coalescer.h"
#include "heatsink/proxy/pending.h"

namespace heatsink::proxy {

// How gathered writes reach the server: SharedWriteCarrier, or a played one in tests.
class WriteCarrier {
 public:
  virtual ~WriteCarrier() = default;

  // There is a connection for it now, and it has been in this database: gathering makes sense.
  virtual bool is_ready(std::string_view key, const CoalescedWrite::Target& target) = 0;
  // Why nothing can be sent now, in words for the client. nullopt: it can.
  virtual std::optional<std::string> refusal(std::string_view key,
                                             const CoalescedWrite::Target& target) = 0;
  // REQUIRES no refusal(). `request` writes pending.keys. Its reply comes to pending.session or,
  // without one, to Coalescing.
  virtual void send(std::string_view key, const CoalescedWrite::Target& target,
                    std::string_view request, Pending&& pending) = 0;
};

// Belongs to one worker's thread. A client is answered when the one write that stands for its write
// has been: what is acknowledged is as safe as without it (docs/decisions/0018).
class Coalescing {
 public:
  // `windows` as of coalescing_windows(). All references outlive it.
  Coalescing(const detect::RuleSet& rules, std::vector<Nanos> windows, net::EventLoop& loop,
             copies::Counters& counters, std::unique_ptr<WriteCarrier> carrier)
      : rules_(rules),
        windows_(std::move(windows)),
        loop_(loop),
        counters_(counters),
        carrier_(std::move(carrier)) {}
  Coalescing(const Coalescing&) = delete;

  // How long writes of this key are gathered; 0: they are not.
  Nanos window_of(std::string_view key) const;
  bool may_send(std::string_view key, const CoalescedWrite::Target& target) {
    return carrier_->is_ready(key, target);
  }
  bool waits(Coalescer::Group group, Nanos window, TimePoint now) {
    return gatherer_.ask(group, window, now) == Coalescer::Turn::kGather;
  }
  // REQUIRES that it waits(). Its client will be told by one call of GatheredWriter. False: there
  // is no room.
  bool join(Coalescer::Group group, CoalesceKind kind, std::string_view key,
            const CoalescedWrite::Target& target, const CoalescedWrite::Part& part);

  // Called for the connection: of the request sent with this number.
  void answered(std::uint32_t number, std::string_view reply, TimePoint read_at);
  void lost(std::uint32_t number, const std::string& reason);

 private:
  void send(Coalescer::Group group);
  void send_each(const CoalescedWrite& write);

  const detect::RuleSet& rules_;
  const std::vector<Nanos> windows_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  const std::unique_ptr<WriteCarrier> carrier_;
  Coalescer gatherer_;
  std::unordered_map<std::uint32_t, CoalescedWrite> on_their_way_;
  std::uint32_t last_number_ = 0;
};

}  // namespace heatsink::proxy
