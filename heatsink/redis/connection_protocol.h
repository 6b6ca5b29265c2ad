// SPDX-License-Identifier: Apache-2.0
// The protocol part of one connection to a server, without a socket. A ServerConnection carries its
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink::redis {

// One thread. Call order: `((connected (received | tick)*)? disconnected)*`.
class ConnectionProtocol {
 public:
  virtual void connected(TimePoint now) = 0;
  // On an error the owner closes the connection for this reason and then calls disconnected().
  virtual Status received(std::string_view bytes, TimePoint now) = 0;
  // Checks time-outs and sends what is due. Call it often. Error: as received().
  virtual Status tick(TimePoint now) = 0;
  // The connection is lost, or an attempt to connect has failed.
  virtual void disconnected(const std::string& reason) = 0;

  virtual bool up() const = 0;       // the server has accepted the handshake
  virtual ByteBuffer& output() = 0;  // bytes to send; the owner consumes them

  // How many commands were added to output() since the last call.
  std::uint64_t take_commands() { return std::exchange(commands_, 0); }
  void note_command() { ++commands_; }  // for the protocol and its parts

 protected:
  ~ConnectionProtocol() = default;

 private:
  std::uint64_t commands_ = 0;
};

}  // namespace heatsink::redis
