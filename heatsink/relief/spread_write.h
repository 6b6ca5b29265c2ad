// SPDX-License-Identifier: Apache-2.0
// Puts tombstones in place of the copies of keys that a client has written, before the client gets
// the reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/relief/spread_layouts.h"
#include "heatsink/relief/spread_parts.h"
#include "heatsink/upstream/own_requester.h"

namespace heatsink::proxy {

// The reply of one write. One worker's thread. `release` is called once: when all nodes have
// answered, or after kPatience. A node that does not answer keeps its copy until that ends.
class SpreadWrite final : public OwnRequester {
 public:
  static constexpr Nanos kPatience = Millis(250);

  SpreadWrite(SpreadParts& parts, SpreadLayouts& layouts, SpreadKeysWritten keys,
              std::function<void()> release, std::function<void()> over);
  ~SpreadWrite();

  void begin();
  bool is_over() const { return is_released_ && asked_ == 0 && in_flight() == 0; }

 private:
  // The ticket of a tombstone for a suspect node: it is sent, and the write does not wait for it.
  static constexpr ReplyQueue::Ticket kNotAwaited = UINT64_MAX;

  void answered(ReplyQueue::Ticket ticket, const resp::Value& reply) override;
  void lost(ReplyQueue::Ticket ticket, const std::string& problem) override;
  void bury(const std::string& key, const std::vector<std::uint16_t>* slots);
  void end_awaiting(ReplyQueue::Ticket ticket);
  bool bury_one(const std::string& name, std::uint16_t slot);
  void try_again();
  void late();
  void release();
  void end_step();

  SpreadParts& parts_;
  SpreadLayouts& layouts_;
  const SpreadKeysWritten keys_;
  const std::function<void()> release_, over_;
  std::vector<std::pair<std::string, std::uint16_t>> unsent_;  // names, slots
  // Of each awaited reply; null: it has come. Its request's ticket is its place here, plus 1.
  std::vector<const redis::UpstreamAddress*> awaited_from_;
  std::size_t awaited_ = 0;  // replies
  std::size_t asked_ = 0;    // layouts
  net::TimerId timer_ = 0, again_ = 0;
  bool is_released_ = false;
};

}  // namespace heatsink::proxy
