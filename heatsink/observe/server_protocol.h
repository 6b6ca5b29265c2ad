// SPDX-License-Identifier: Apache-2.0
// The protocol of one connection to the observed server: a state machine without a socket.
#pragma once

#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink::observe {

// Call order: `(connected (received)* lost)*`, or lost() alone if no connection could be made.
class ServerProtocol {
 public:
  virtual ~ServerProtocol() = default;

  // Whether a connection is needed. The owner opens and closes it accordingly, and reopens it when
  // it is lost. When wanted() becomes false the owner closes it without calling lost().
  virtual bool wanted() const = 0;

  virtual void connected(TimePoint now) = 0;
  // An error means that the connection is useless; the owner closes it and calls lost() with the
  // error.
  virtual Status received(std::string_view bytes, TimePoint now) = 0;
  virtual void lost(const Error& why, TimePoint now) = 0;

  // Bytes to send once connected; the owner consumes them.
  ByteBuffer& output() { return output_; }

 protected:
  ByteBuffer output_;
};

}  // namespace heatsink::observe
