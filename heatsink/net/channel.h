// SPDX-License-Identifier: Apache-2.0
// A connection that is more than a socket: TLS on one, or a connection of a simulated network.
#pragma once

#include <cstddef>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/socket.h"

namespace heatsink::net {

// Used by Stream, which explains the calls. One thread at a time.
class Channel {
 public:
  virtual ~Channel() = default;

  // One step of opening. kNone: it is open; else what to wait for. Errors say whose fault it is,
  // for an operator.
  virtual Result<Interest> open() = 0;
  virtual bool is_open() const = 0;

  virtual IoResult read(char* bytes, std::size_t size) noexcept = 0;
  // After kAgain the same bytes come again first, perhaps from another place.
  virtual IoResult write(const char* bytes, std::size_t size) noexcept = 0;
  virtual bool peer_has_ended() const noexcept = 0;
  virtual void close() = 0;  // with a goodbye, if there is room for it

  virtual bool peer_speaks_plain() const { return false; }
  // Why the last read or write has ended the connection; "": the other side just closed.
  virtual std::string fault() const { return ""; }
};

}  // namespace heatsink::net
