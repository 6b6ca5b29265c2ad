// SPDX-License-Identifier: Apache-2.0
// Defines the holder of a private connection as that connection sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/upstream/requester.h"

namespace heatsink::proxy {

class Upstream;

// Implemented by Session and by the listeners at the nodes of a cluster. One worker's thread. It
// outlives the connection, or Upstream::set_owner() takes the connection from it. All requests on
// the connection are its own, or those of its parts.
class ConnectionOwner : public Requester {
 public:
  // Bytes from the connection. Without a ticket they are a message, or part of a stream.
  virtual void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;

  // The connection is ready for requests.
  virtual void private_ready() = 0;
  // The connection could not be opened, or is lost. Returns it, if the owner holds it.
  virtual std::unique_ptr<Upstream> private_failed(const std::string& reason) = 0;
  // There may be room for more requests.
  virtual void room_available() {}

  // A node of a cluster has answered with this error line, which no client has seen. True: the
  // owner sends the request again by itself, and `pending` has ended. False: the error is treated
  // like any other reply.
  virtual bool takes_back(Pending& /*pending*/, std::string_view /*error*/) { return false; }
  // The rest of the request that was sent last follows.
  virtual bool is_streaming() const { return false; }

  // Messages may arrive; in RESP2 they look like replies.
  virtual bool receives_messages() const = 0;
  // Which bytes of the reply reply_done() gets.
  enum class Keeps : std::uint8_t {
    kNothing,
    kCopy,  // all; the client gets them before
    kAll,   // all, and the client none: it seems to have left
  };
  // Called when the reply to a client's request of a part of it (Pending::of) begins, in bytes read
  // at `read_at`.
  virtual Keeps keeps(const Pending& /*pending*/, TimePoint /*read_at*/) { return Keeps::kNothing; }

 protected:
  ~ConnectionOwner() = default;
};

}  // namespace heatsink::proxy
