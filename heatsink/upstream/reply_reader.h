// SPDX-License-Identifier: Apache-2.0
// Reads the replies of one connection, finds the request of each, and hands each to its requester.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/upstream/big_replies.h"
#include "heatsink/upstream/connection_db.h"
#include "heatsink/upstream/reply_delivery.h"
#include "heatsink/upstream/sent_requests.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream_host.h"
#include "heatsink/upstream/upstream_login.h"

namespace heatsink::proxy {

// One per connection; the worker's thread. Replies come in the order of the requests; messages
// (pushes, and what looks like replies in RESP2) come between them. Three kinds of replies do not
// go to the client that asked: those that are too big for a shared connection and are asked for
// again (docs/decisions/0006-big-replies-are-asked-again.md), those with which a node of a cluster
// refuses a request that another node will execute, and those that the proxy asked for. No call of
// Connection is on the path of a usual reply.
class ReplyReader {
 public:
  // What it asks of its connection. Implemented by Upstream, and by tests.
  class Connection {
   public:
    // Calls lose_all().
    virtual void fail(const std::string& reason) = 0;
    // As UpstreamHost::reroute().
    virtual bool reroute(Pending& pending, std::string_view request, std::string_view error) = 0;
    // A reply to a request of the handshake, in wire form.
    virtual void login_answered(bool ok, std::string_view reply) = 0;
    // All requests before the raw one are answered.
    virtual void raw_released() = 0;

   protected:
    ~Connection() = default;
  };

  // What it reads and changes. All outlive it.
  struct Parts {
    UpstreamHost& host;
    ServersState& shared;
    SentRequests& requests;
    ConnectionDb& db;
    const UpstreamLogin& login;
    Connection& connection;
  };

  // `owner`: as for ReplyDelivery.
  ReplyReader(const Parts& parts, ConnectionOwner* owner) : parts_(parts), to_(owner) {}
  ReplyReader(const ReplyReader&) = delete;

  // `read_at`: a time after the bytes were read. `now`: the time of the turn. The connection may
  // fail meanwhile.
  void read(std::string_view bytes, TimePoint read_at, TimePoint now);
  TimePoint read_at() const { return read_at_; }
  // The connection has failed: every request ends with this problem. Nothing is read after it.
  void lose_all(TimePoint now, const std::string& problem);
  // The connection goes to another process: its requests end here, without a result.
  void release_all(TimePoint now);

  ConnectionOwner* owner() const { return to_.owner(); }
  void set_owner(ConnectionOwner* owner) { to_.set_owner(owner); }
  bool is_private() const { return to_.is_private(); }

  // A node of a cluster may refuse the request, and another one may execute it. A private
  // connection keeps no bytes, so the request must then keep its own.
  bool may_be_refused(const Pending& pending) const;

  // No part of a reply or message was read.
  bool is_between_replies() const { return !begun_ && head_.empty() && !to_.holds(); }
  // Half of a message has been handed on: the client must see no other byte before the rest.
  bool in_message() const { return begun_ && (push_ || (ambiguous_ && parts_.requests.empty())); }
  bool in_big_reply() const {
    return begun_ && (too_big_to_share() || to_.bytes() > BigReplies::kBigBytes);
  }

  std::size_t memory_bytes() const { return to_.memory_bytes(); }
  void shrink() { to_.shrink(); }

 private:
  void fail(const std::string& reason) { parts_.connection.fail(reason); }
  bool take_whole(std::string_view bytes, TimePoint now);
  void route(std::string_view bytes, bool ends);
  bool is_undecided();
  bool begin_element();
  bool begin_reply();
  bool aim(Pending& pending);
  void end_element();
  void finish_reply();
  bool may_be_message() const;
  bool is_message_to_subscriber() const;
  bool is_silenced() const;
  bool may_be_refusal(const Pending& pending) const;
  bool end_refusal();
  bool too_big_to_share() const;
  bool may_repeat(const Pending& pending) const;
  void repeat_elsewhere(Pending& pending);
  void hold_back(std::string_view bytes, bool ends);
  void hand_on_held();

  const Parts parts_;
  resp::ReplyScanner scanner_;
  ReplyDelivery to_;
  TimePoint read_at_{};
  bool ended_ = false;  // lose_all() or release_all() was called
  // The element that is being read:
  bool begun_ = false;
  bool ambiguous_ = false;  // reply or message: unknown until it ends
  bool push_ = false;
  bool is_refusal_ = false;  // perhaps a cluster's, so nothing is handed on before its end
  std::string head_;         // its bytes until its header is complete
};

}  // namespace heatsink::proxy
