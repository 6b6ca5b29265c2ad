// SPDX-License-Identifier: Apache-2.0
// Runs the TLS handshakes of new clients, before they have a session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "heatsink/net/net.h"

namespace heatsink::proxy {

// One worker's thread. Bounded in time and number: a client that does not finish its handshake
// costs one socket and about 40 KB, for at most `timeout` plus kAlertTime.
class TlsHandshakes {
 public:
  // Gets the finished handshakes; outlives this object.
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

  void set_timeout(Nanos timeout) { timeout_ = timeout; }  // of those that start from now on

  // How long a refused client has to read the reason.
  static constexpr Nanos kAlertTime = Millis(500);

  // Calls handshake_done() or handshake_failed() once, perhaps before it returns.
  void start(net::Fd socket, const net::TlsContext& context, std::string peer);
  std::size_t pending() const { return handshakes_.size(); }

 private:
  class Handshake;
  void step(Handshake& handshake);
  void refuse(Handshake& handshake, const std::string& reason);
  void drain(Handshake& handshake);
  void close(Handshake& handshake);
  // Ends the handshake and returns its stream.
  net::Stream release(Handshake& handshake);

  net::EventLoop& loop_;
  Owner& owner_;
  Nanos timeout_;
  std::unordered_map<int, std::unique_ptr<Handshake>> handshakes_;  // by socket
};

}  // namespace heatsink::proxy
