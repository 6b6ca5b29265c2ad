// SPDX-License-Identifier: Apache-2.0
// Answers one GET from a copy of its key on another node, or from the key itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/copies/touched_keys.h"
#include "heatsink/relief/spread_parts.h"
#include "heatsink/spread/spread.h"
#include "heatsink/upstream/own_requester.h"

namespace heatsink::proxy {

// The life of a copy: spread/copy_text.h. One worker's thread. The client gets exactly one
// reply_done() or reply_lost(); after it the read may still fill the copy, or wait for the late
// reply of a node. is_over() says when it may be freed, at the end of a turn.
class SpreadRead final : public OwnRequester {
 public:
  struct Reader {
    Requester& client;
    ReplyQueue::Ticket ticket;  // of the client's queue
    resp::Protocol protocol = resp::Protocol::kResp2;
    // Records the value's size: SpreadReads does not take reads of big ones.
    copies::TouchedKey key = {};
    std::uint16_t sized_as = 0;
  };
  SpreadRead(SpreadParts& parts, const Reader& reader, std::string_view key, Nanos ttl,
             std::function<void()> over);
  ~SpreadRead();

  // Tries the copies in their order from `first` on, without those whose nodes cannot be asked.
  void begin(const std::vector<std::uint16_t>& slots, std::size_t first);
  bool is_over() const { return is_answered_ && in_flight() == 0; }

  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                  std::string_view kept) override;
  void reply_lost(Pending& pending, bool begun, const std::string& problem) override;
  // The value is too big for a shared connection, or the client reads slowly: only the key's own
  // reply can be that long, and the session asks for it on a private connection.
  bool congested() const override { return reader_.client.congested(); }
  bool may_ask_again(ReplyQueue::Ticket ticket) const override {
    return ticket == kKey && !reader_.client.closed() &&
           reader_.client.may_ask_again(reader_.ticket);
  }
  void ask_again(std::string_view request, const Pending& pending) override;

 private:
  enum : ReplyQueue::Ticket { kCopy = 1, kLease, kTtl, kKey, kFill };

  void answered(ReplyQueue::Ticket ticket, const resp::Value& reply) override;
  void lost(ReplyQueue::Ticket ticket, const std::string& problem) override;
  Pending of_client() const;
  void take_copy(const resp::Value& reply);
  void take_lease();
  void ask_key();
  void key_unreachable(const std::string& why);
  void fill();
  void give_up_fill();
  void late();
  void end(std::string_view wire, copies::Count how);
  void end_client(bool ok, const resp::ReplyScanner& reply);
  void end_step();

  SpreadParts& parts_;
  const Reader reader_;
  const std::string key_;
  const Nanos ttl_;
  const std::function<void()> over_;
  std::uint16_t slot_ = 0;  // of the copy
  std::string copy_name_, lease_;
  std::string take_;                              // the bytes of a copy that arrives
  std::string value_;                             // the reply of the key, for the fill
  std::int64_t ttl_ms_ = -1;                      // of the key
  const redis::UpstreamAddress* node_ = nullptr;  // of the copy
  net::TimerId timer_ = 0;
  TimePoint key_wanted_at_{};
  bool awaits_copy_ = false;  // the client waits for the copy's node
  bool fills_ = false;
  bool is_answered_ = false;
};

}  // namespace heatsink::proxy
