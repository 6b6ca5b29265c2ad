// SPDX-License-Identifier: Apache-2.0
// Where clients that come by TLS wait until their handshake is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "heatsink/net/net.h"

namespace heatsink::proxy {

// One worker's thread. Bounded by time and number: a client that does not come to the end of its
// handshake costs one socket and about 40 KB, no longer than `timeout` and kAlertTime.
class TlsHandshakes {
 public:
  // Who lives behind the handshakes, and outlives it.
  class Owner {
   public:
    virtual void handshake_done(net::Stream stream, const std::string& peer) = 0;
    virtual void handshake_failed(const std::string& peer, const std::string& reason) = 0;

   protected:
    ~Owner() = default;
  };

  TlsHandshakes(net::EventLoop& loop, Owner& owner, Nanos timeout);
  ~TlsHandshakes();
  TlsHandshakes(const TlsHandshakes&) = delete;

  // How long one that is turned away may take to hear reason.
  static constexpr Nanos kAlertTime = Millis(500);

  // handshake_done() or handshake_failed() follows, once, perhaps at once.
  void start(net::Fd socket, const net::TlsContext& context, std::string peer);
  std::size_t pending() const { return handshakes_.size(); }

 private:
  class Handshake;
  void step(Handshake& handshake);
  void refuse(Handshake& handshake, const std::string& reason);
  void drain(Handshake& handshake);
  void close(Handshake& handshake);
  // What it came with; it is gone then.
  net::Stream release(Handshake& handshake);

  net::EventLoop& loop_;
  Owner& owner_;
  const Nanos timeout_;
  std::unordered_map<int, std::unique_ptr<Handshake>> handshakes_;  // by socket
};

}  // namespace heatsink::proxy
