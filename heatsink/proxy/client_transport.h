// SPDX-License-Identifier: Apache-2.0
// The connection to one client as its session sees it: bytes in, bytes out, and the client's end.
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// ClientConnection is the one with a socket; tests play another. One worker's thread. No call is
// virtual that a session makes for each reply: replies are appended to output(), and one write()
// sends all that a batch of requests has produced.
class ClientTransport {
 public:
  // The session that the connection belongs to. It may call close() from within each of these.
  class Listener {
   public:
    // `now` was read after the bytes were: every request in them was sent before that moment
    // (docs/design/architecture.md, "A request"). The bytes live for the time of the call.
    virtual void received(std::string_view bytes, TimePoint now) = 0;
    // The client sends no more. `broken`: it is gone, and reads nothing either. Otherwise it may
    // have ended its output only, and still want its replies.
    virtual void input_ended(bool broken) = 0;
    virtual void writable() = 0;  // after Written::kBlocked: there is room again

   protected:
    ~Listener() = default;
  };

  enum class Written : std::uint8_t {
    kAll,      // output() is empty
    kBlocked,  // the client is slow to read; writable() follows once there is room
    kLost,     // the client is gone
  };

  // Replies that have not been written.
  ByteBuffer& output() { return output_; }
  const ByteBuffer& output() const { return output_; }
  // Writes as much of output() as the client takes. After close(): drops it, kAll.
  virtual Written write() = 0;
  // Whether received() is wanted. On at first; costs a system call when it changes.
  virtual void set_reading(bool wanted) = 0;
  // The client has ended its output, or left: also while bytes from before that have not been
  // received. REQUIRES that it is not closed. A system call.
  virtual bool peer_has_ended() const = 0;
  // Drops output(); no call of the listener follows.
  virtual void close() = 0;

 protected:
  ClientTransport() = default;
  ~ClientTransport() = default;

  ByteBuffer output_;
};

}  // namespace heatsink::proxy
