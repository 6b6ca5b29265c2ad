// SPDX-License-Identifier: Apache-2.0
// Puts what a client gets into order, limits how much of it waits, and decides when it is sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/command/reply_queue.h"
#include "heatsink/relief/client_traffic.h"
#include "heatsink/relief/memory_budget.h"
#include "heatsink/relief/relief.h"
#include "heatsink/session/client_transport.h"
#include "heatsink/session/server_side.h"
#include "heatsink/session/session_host.h"

namespace heatsink::proxy {

// One per client; the worker's thread. Replies have tickets and keep the order of the requests
// (ReplyQueue); messages and pushes stand between them. All of it gathers in the transport's
// output, and a flush sends what a turn has added. After close() everything that comes is dropped.
//
// Cost: a reply in order is appended to the output, with no allocation and no virtual call but the
// first one of a turn. Memory: replies that wait for earlier ones, and what the client does not
// read; the limits say when the session must stop asking for more.
class ClientOutput {
 public:
  using Ticket = ReplyQueue::Ticket;

  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    // The session calls flush() or hold() before the turn ends.
    virtual void flush_at_end_of_turn() = 0;
    // It asks at_slice() in this turn or in one of the next.
    virtual void flush_in_slices() = 0;
    // It asks is_held_since() after a while (held_outputs.h).
    virtual void flush_after_a_while() = 0;
    virtual void memory_changed() = 0;  // memory_bytes() is another

   protected:
    ~Client() = default;
  };

  // All outlive it.
  ClientOutput(const SessionParts& parts, ClientTransport& transport, const ServerSide& servers,
               const ClientTraffic& traffic, Client& client)
      : parts_(parts),
        transport_(transport),
        servers_(servers),
        traffic_(traffic),
        client_(client) {}
  ClientOutput(const ClientOutput&) = delete;

  // ---- replies, in the order of the requests

  Ticket expect() { return replies_.expect(); }
  // For a command that may change a key.
  Ticket expect_effect() { return last_effect_ = replies_.expect(); }
  Ticket next() const { return replies_.next(); }  // the next return value of expect()
  void take_back(Ticket ticket) { replies_.take_back(ticket); }  // as ReplyQueue's

  // As ReplyQueue's; kNone: does nothing in end(). REQUIRES an open ticket.
  void put(Ticket ticket, std::string_view bytes) {
    if (is_closed_) return;
    replies_.put(ticket, bytes, unsent());
    note_added();
  }
  void end(Ticket ticket) {
    if (is_closed_ || ticket == ReplyQueue::kNone) return;
    const std::size_t before = unsent().size();
    replies_.end(ticket, unsent());
    if (unsent().size() != before) note_added();
  }
  void put_whole(Ticket ticket, std::string_view reply) {
    if (is_closed_) return;
    replies_.put_whole(ticket, reply, unsent());
    note_added();
  }
  // The proxy's own reply, behind all others so far.
  void add(std::string_view reply) {
    if (is_closed_) return;
    replies_.add(reply, unsent());
    note_added();
  }
  // Several of them, which write(ByteBuffer&) appends. REQUIRES a flush in this turn, which notes
  // the memory.
  template <class Write>
  void add_all(Write write) {
    replies_.add_all(unsent(), write);
  }

  bool owes_replies() const { return !replies_.empty(); }
  // Of the reply that the client gets next, and of the last one that it gets; kNone: none is owed.
  Ticket first_owed() const { return owes_replies() ? replies_.first() : ReplyQueue::kNone; }
  Ticket last_owed() const { return owes_replies() ? replies_.next() - 1 : ReplyQueue::kNone; }
  // The reply, or one before it, has not ended. A ticket that was taken back is not owed.
  bool owes(Ticket ticket) const { return replies_.owes(ticket) && ticket < replies_.next(); }
  // Parts of replies wait for earlier ones.
  bool keeps_bytes() const { return replies_.kept_bytes() > 0; }

  ReliefClient::LatestEffect latest_effect() const {
    return {last_effect_, replies_.owes(last_effect_)};
  }
  // No command behind this reply may have changed a key.
  bool is_last_effect(Ticket ticket) const { return last_effect_ <= ticket; }

  // ---- messages of the server, and pushes of the proxy

  // No reply and no message is begun.
  bool is_between_replies() const { return !replies_.is_begun() && !servers_.is_in_message(); }
  // Bytes of a message or of a stream, at once. Then ask is_full().
  void append(std::string_view bytes) {
    if (is_closed_) return;
    unsent().append(bytes);
    note_added();
  }
  // What becomes of a push, which never stands inside a reply or a message.
  enum class Pushed : std::uint8_t {
    kInTurn,    // it follows a reply
    kAdded,     // it is in the output, and sent in a slice. Then ask is_full()
    kMustWait,  // it was not taken, because a message of the server is begun
  };
  // Behind the reply with this ticket, which is owed; kNone: as soon as no reply is begun. REQUIRES
  // that close() was not called.
  Pushed push(std::string_view wire, Ticket behind);

  // ---- limits

  // So many bytes may wait before the session takes no further request.
  std::size_t replies_max() const { return share(4); }
  bool is_long() const { return waiting_bytes() > replies_max(); }
  // It may not even take the replies to the requests in flight.
  bool is_congested() const { return waiting_bytes() > share(2); }
  // What cannot be held back is too much: the client does not read.
  bool is_full() const { return unsent().size() > parts_.shared.options().client_output_max.count; }

  // ---- when it is sent

  void flush_later() {
    if (!std::exchange(flush_due_, true)) client_.flush_at_end_of_turn();
  }
  // The session is about to call flush() or hold().
  void flush_follows() { flush_due_ = true; }
  // Sends what the client takes. nullopt: nothing may be sent now.
  std::optional<ClientTransport::Written> flush();
  // Hits may stand before reads that wait for the server or for a fill: one send will have all of
  // them (held_outputs.h). False: it is nothing to hold, and should be sent now.
  bool hold();
  bool is_held_since(TimePoint since) const { return held_since_ == since; }
  // The slice has come. True: call flush(), unless the output has gone out meanwhile.
  bool at_slice() {
    slice_due_ = false;
    return has_unsent();
  }
  bool has_unsent() const { return !unsent().empty(); }
  bool is_all_sent() const { return !has_unsent() && !flush_due_; }
  bool is_at_rest() const { return is_all_sent() && !owes_replies(); }

  // ---- memory

  std::size_t memory_bytes() const { return buffered_bytes() + replies_.capacity_bytes(); }
  // Frees an empty output of more than `kept` bytes, and the memory of earlier replies if `idle`.
  void shrink(std::size_t kept, bool idle);
  void close() {
    is_closed_ = true;
    replies_.clear();
  }

 private:
  // Unwritten bytes of one big reply at which the private connection is paused.
  static constexpr std::size_t kPauseAt = 1024 * 1024;

  ByteBuffer& unsent() { return transport_.output(); }
  const ByteBuffer& unsent() const { return transport_.output(); }
  std::size_t waiting_bytes() const { return unsent().size() + replies_.kept_bytes(); }
  std::size_t buffered_bytes() const { return unsent().capacity() + replies_.kept_bytes(); }
  // This part of proxy.client-output-limit; only a fair share while memory is short, so that the
  // client's socket fills instead. Inline, because division by a constant costs next to nothing.
  std::size_t share(std::size_t part) const {
    const std::size_t limit = parts_.shared.options().client_output_max.count / part;
    return parts_.shared.memory.is_tight() ? std::min(limit, MemoryBudget::kFairBytes) : limit;
  }
  void note_added() {
    flush_later();
    note_buffered();
  }
  void note_buffered() {
    note_memory();
    if (Upstream* const own = servers_.own()) pause_if_long(*own);
  }
  // After a reply has come or gone, which changes no other buffer.
  void note_memory() {
    const std::size_t bytes = buffered_bytes();
    if (std::exchange(noted_bytes_, bytes) != bytes) client_.memory_changed();
  }
  void pause_if_long(Upstream& own) const;

  const SessionParts& parts_;
  ClientTransport& transport_;
  const ServerSide& servers_;
  const ClientTraffic& traffic_;
  Client& client_;
  ReplyQueue replies_;
  Ticket last_effect_ = ReplyQueue::kNone;
  std::size_t noted_bytes_ = 0;  // at the last note_memory()
  TimePoint held_since_{};       // unset: it is not held
  bool flush_due_ = false;       // flush() runs before the turn ends
  bool slice_due_ = false;       // at_slice() runs in one of the next turns
  bool is_closed_ = false;
};

}  // namespace heatsink::proxy
