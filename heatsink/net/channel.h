// SPDX-License-Identifier: Apache-2.0
// Defines the bytes of a connection that is more than a socket: TLS, or a simulated network's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/net/certificate.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/socket.h"

namespace heatsink::net {

// Used by Stream, which documents the calls. One thread at a time.
class Channel {
 public:
  virtual ~Channel() = default;

  // One step of opening. kNone: the channel is open; else the event to wait for. Error messages
  // tell the operator which side is at fault.
  virtual Result<Interest> open() = 0;
  virtual bool is_open() const = 0;

  virtual IoResult read(char* bytes, std::size_t size) noexcept = 0;
  // After kAgain the caller must repeat the same bytes first, perhaps at another address.
  virtual IoResult write(const char* bytes, std::size_t size) noexcept = 0;
  virtual bool peer_has_ended() const noexcept = 0;
  virtual void close() = 0;  // sends a goodbye if there is room for it
  virtual void end_output() { close(); }

  virtual bool peer_speaks_plain() const { return false; }
  // The certificate that the peer sent, once the channel is open; none: it sent none.
  virtual std::optional<Certificate> peer_certificate() const { return std::nullopt; }
  // Why the last read or write ended the connection; "": the peer closed it.
  virtual std::string fault() const { return ""; }
};

}  // namespace heatsink::net
