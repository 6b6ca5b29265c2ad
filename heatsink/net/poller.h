// SPDX-License-Identifier: Apache-2.0
// What an event loop asks of the system: the time, which connections are ready, a new connection.
#pragma once

#include <cstdint>
#include <span>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/stream.h"

namespace heatsink::net {

// The kernel's is EpollPoller. A simulated network plays another, with its own time. Owned and used
// by one loop, on its thread; only wake() may be called from other threads.
class Poller {
 public:
  struct Event {
    std::uint64_t tag = 0;             // as given to add()
    Interest ready = Interest::kNone;  // of what was asked for
    bool hangup = false;               // the peer is gone (EPOLLHUP, EPOLLERR)
  };

  virtual ~Poller() = default;

  // The time now. Costs about 20 ns.
  virtual TimePoint clock() const = 0;

  // Watches `fd`, which stays the caller's. Level-triggered. Errors: kOutOfRange at the kernel's
  // limit of watches.
  virtual Status add(int fd, Interest interest, std::uint64_t tag) = 0;
  virtual void change(int fd, Interest interest, std::uint64_t tag) = 0;
  virtual void remove(int fd) = 0;

  // Waits until something is ready, wake() is called, the moment `due` has come (max: never), or
  // `at_most` has passed (max: no limit). If `may_sleep` is false, it only looks. The result is
  // valid until the next call.
  virtual std::span<const Event> wait(TimePoint due, Nanos at_most, bool may_sleep) = 0;
  virtual void wake() = 0;  // thread-safe
  // Whether the loop rests between two waits, too, so that each first post needs a wake().
  virtual bool rests_between_waits() const { return false; }

  // Starts to connect (see Stream).
  virtual Result<Stream> connect(const ResolvedAddress& address, const TlsContext& context) = 0;
};

}  // namespace heatsink::net
