// SPDX-License-Identifier: Apache-2.0
// The lane of writes that wait for each other: gathered here, sent as one on a shared connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/detect.h"
#include "heatsink/proxy/coalescer.h"

namespace heatsink::proxy {

class Upstream;
class Worker;

// Belongs to one worker's thread. A client is answered when the one write that stands for his has
// been: what is acknowledged is as safe as without it (docs/decisions/0018).
class Coalescing {
 public:
  Coalescing(Worker& worker, std::vector<Nanos> windows)
      : worker_(worker), windows_(std::move(windows)) {}
  Coalescing(const Coalescing&) = delete;

  // How long writes of this key are gathered; 0: they are not.
  Nanos window_of(std::string_view key) const;
  bool waits(Coalescer::Line line, Nanos window, TimePoint now) {
    return gatherer_.ask(line, window, now) == Coalescer::Turn::kGather;
  }
  // REQUIRES that it waits(). Its session will be told by coalesced(), reply_done() or
  // reply_lost(). False: there is no room.
  bool join(Coalescer::Line line, CoalesceKind kind, std::string_view key,
            const CoalescedWrite::Target& target, const CoalescedWrite::Part& part);

  // Called by the connection: of the request sent with this number.
  void answered(std::uint32_t number, std::string_view reply, TimePoint read_at);
  void lost(std::uint32_t number, const std::string& reason);

 private:
  void send(Coalescer::Line line);
  void send_on(Upstream& lane, CoalescedWrite write);
  void send_each(const CoalescedWrite& write);
  bool select(Upstream& lane, std::uint32_t db);

  Worker& worker_;
  const std::vector<Nanos> windows_;
  Coalescer gatherer_;
  std::unordered_map<std::uint32_t, CoalescedWrite> on_their_way_;
  std::uint32_t last_number_ = 0;
};

}  // namespace heatsink::proxy
