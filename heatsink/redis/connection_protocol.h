// SPDX-License-Identifier: Apache-2.0
// The protocol part of one connection to a server, without a socket; a ServerConnection carries its
// bytes.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink::redis {

// One thread. The protocol: `((connected (received | tick)*)? disconnected)*`.
class ConnectionProtocol {
 public:
  virtual void connected(TimePoint now) = 0;
  // The error says why the connection is to be closed; disconnected() is then called by the owner.
  virtual Status received(std::string_view bytes, TimePoint now) = 0;
  // Time-outs, and what is due; often. Error: as received().
  virtual Status tick(TimePoint now) = 0;
  // Lost; or an attempt to connect has failed.
  virtual void disconnected(const std::string& reason) = 0;

  virtual bool up() const = 0;       // the server has accepted what was said first
  virtual ByteBuffer& output() = 0;  // to be sent; the owner consumes it

 protected:
  ~ConnectionProtocol() = default;
};

}  // namespace heatsink::redis
