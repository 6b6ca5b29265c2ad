// SPDX-License-Identifier: Apache-2.0
// Collects the replies to the parts of one command, which several nodes of a cluster execute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/command/fan_out.h"
#include "heatsink/upstream/requester.h"

namespace heatsink::proxy {

// One part: what is sent, and what came back.
struct ScatterPart {
  std::string request;                   // in wire form
  std::vector<std::uint32_t> positions;  // of its keys among those of the command
  std::string reply;
};

// The requester of the parts, in the place of the client's session, whose reply comes when all
// parts have ended. One worker's thread. Its owner keeps it while its requests are in flight.
// Memory: the replies, until the last has come; at most `bytes_max`, and past it the reply is an
// error.
class Scatter final : public Requester {
 public:
  // Implemented by ScatteredCommands, and by ClusterRefusals for what it splits.
  class Owner {
   public:
    // All parts have ended. The owner frees the scatter, at the earliest at the end of the turn.
    virtual void scatter_ended(Scatter& scatter) = 0;

   protected:
    ~Owner() = default;
  };

  // Both outlive it. `client`: the session, or what stands in its place. `ticket`: for the joined
  // reply.
  Scatter(Requester& client, Owner& owner, const FanOutRow& row, ReplyQueue::Ticket ticket,
          std::vector<ScatterPart>&& parts, std::size_t bytes_max)
      : client_(client),
        owner_(owner),
        row_(row),
        ticket_(ticket),
        parts_(std::move(parts)),
        left_(parts_.size()),
        bytes_max_(bytes_max) {}
  Scatter(const Scatter&) = delete;

  const FanOutRow& row() const { return row_; }
  ReplyQueue::Ticket ticket() const { return ticket_; }
  bool is_silent() const { return is_silent_; }
  void silence() { is_silent_ = true; }
  const std::vector<ScatterPart>& parts() const { return parts_; }
  std::size_t bytes() const { return bytes_; }
  // Not empty: why the reply to at least one part will not come.
  const std::string& loss() const { return loss_; }
  bool is_lost() const { return !loss_.empty(); }
  // The ticket of a part's request, within this scatter.
  static ReplyQueue::Ticket ticket_of(std::size_t part) { return part + 1; }
  // The reply in wire form, when all parts have ended.
  std::string reply(std::uint64_t random) const;

  std::uint64_t id() const override { return client_.id(); }
  bool closed() const override { return client_.closed(); }
  void hold() override { client_.hold(); }
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                  std::string_view kept) override;
  void reply_lost(Pending& pending, bool begun, const std::string& problem) override;
  void note_reply_at(TimePoint at) override { client_.note_reply_at(at); }
  void note_written(redis::UpstreamAddress& node) override { client_.note_written(node); }

 private:
  void part_ended();

  Requester& client_;
  Owner& owner_;
  const FanOutRow& row_;
  const ReplyQueue::Ticket ticket_;
  std::vector<ScatterPart> parts_;
  std::size_t left_;  // parts without an end
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;  // of the replies
  bool is_silent_ = false;
  std::string loss_;
};

}  // namespace heatsink::proxy
