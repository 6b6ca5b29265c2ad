// SPDX-License-Identifier: Apache-2.0
// Defines a client's connection as its session sees it: bytes in, bytes out, and the client's end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// ClientConnection implements it with a socket; tests use another one. One worker's thread. A
// session makes no virtual call per reply: it appends replies to output(), and one write() sends
// the replies to a batch of requests.
class ClientTransport {
 public:
  // The session behind the connection. It may call close() inside each of these calls.
  class Listener {
   public:
    // `now` was read after the bytes: the client sent every request in them before that moment
    // (docs/design/architecture.md, "A request"). The bytes are valid during the call.
    virtual void received(std::string_view bytes, TimePoint now) = 0;
    // The client sends no more. `broken`: the connection is gone in both directions. Otherwise the
    // client may have ended its output only, and still expect its replies.
    virtual void input_ended(bool broken) = 0;
    virtual void writable() = 0;  // after Written::kBlocked: the client takes bytes again

   protected:
    ~Listener() = default;
  };

  enum class Written : std::uint8_t {
    kAll,      // output() is empty
    kBlocked,  // the client reads slowly; writable() follows once it takes more
    kLost,     // the client is gone
  };

  // The proxy's own address of the connection, as net::local_text(); "": unknown. Costs a system
  // call.
  virtual std::string local_text() const { return {}; }
  // Replies that are not written yet.
  ByteBuffer& output() { return output_; }
  const ByteBuffer& output() const { return output_; }
  // Writes as much of output() as the client takes. After close() it drops output() and returns
  // kAll.
  virtual Written write() = 0;
  // Turns received() on or off. On at first; a change costs a system call.
  virtual void set_reading(bool wanted) = 0;
  // The client has ended its output, or left. True even while earlier bytes are still to be
  // received. REQUIRES an open connection. Costs a system call.
  virtual bool peer_has_ended() const = 0;
  // The client sees the end of its replies, and can still send. REQUIRES an empty output().
  virtual void end_output() = 0;
  // Drops output(). The listener is not called any more.
  virtual void close() = 0;

 protected:
  ClientTransport() = default;
  ~ClientTransport() = default;

  ByteBuffer output_;
};

}  // namespace heatsink::proxy
