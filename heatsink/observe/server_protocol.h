// SPDX-License-Identifier: Apache-2.0
// One connection to the server under observation, as a state machine without a socket.
#pragma once

#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink::observe {

// The protocol: `(connected (received)* lost)*`, and lost() alone when no connection could be made.
class ServerProtocol {
 public:
  virtual ~ServerProtocol() = default;

  // Whether there is to be a connection; it is opened and closed accordingly, and opened again
  // when it was lost. Closing it calls nothing: whoever stops wanting it knows.
  virtual bool wanted() const = 0;

  virtual void connected(TimePoint now) = 0;
  // An error: the connection is of no use any more; it is closed, and lost() called with it.
  virtual Status received(std::string_view bytes, TimePoint now) = 0;
  virtual void lost(const Error& why, TimePoint now) = 0;

  // To be sent as soon as connected; the owner consumes it.
  ByteBuffer& output() { return output_; }

 protected:
  ByteBuffer output_;
};

}  // namespace heatsink::observe
