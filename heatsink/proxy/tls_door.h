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
// handshake costs one socket and about 40 KB, no longer than `timeout` and kLastWords.
class TlsDoor {
 public:
  // Who lives behind the door, and outlives it.
  class House {
   public:
    virtual void admit(net::Stream stream, const std::string& peer) = 0;
    virtual void turned_away(const std::string& peer, const std::string& why) = 0;

   protected:
    ~House() = default;
  };

  TlsDoor(net::EventLoop& loop, House& house, Nanos timeout);
  ~TlsDoor();
  TlsDoor(const TlsDoor&) = delete;

  // How long one that is turned away may take to hear why.
  static constexpr Nanos kLastWords = Millis(500);

  // admit() or turned_away() follows, once, perhaps at once.
  void enter(net::Fd socket, const net::TlsContext& context, std::string peer);
  std::size_t waiting() const { return guests_.size(); }

 private:
  class Guest;
  void step(Guest& guest);
  void turn_away(Guest& guest, const std::string& why);
  void see_out(Guest& guest);
  void close_behind(Guest& guest);
  // What it came with; it is gone then.
  net::Stream release(Guest& guest);

  net::EventLoop& loop_;
  House& house_;
  const Nanos timeout_;
  std::unordered_map<int, std::unique_ptr<Guest>> guests_;  // by socket
};

}  // namespace heatsink::proxy
