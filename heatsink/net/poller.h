// SPDX-License-Identifier: Apache-2.0
// Defines what an event loop needs of the system: the time, ready connections, new connections.
#pragma once

#include <cstdint>
#include <span>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/stream.h"

namespace heatsink::net {

// EpollPoller implements it for the kernel; a simulated network has another one, with its own time.
// One loop owns and uses it, on its thread; other threads may call only wake().
class Poller {
 public:
  struct Event {
    std::uint64_t tag = 0;             // the tag given to add()
    Interest ready = Interest::kNone;  // a part of the interest given to add()
    bool hangup = false;               // the peer is gone (EPOLLHUP, EPOLLERR)
  };

  virtual ~Poller() = default;

  // The time now. Costs about 20 ns.
  virtual TimePoint clock() const = 0;
  // CPU time of the calling thread so far; 0 where it is not measured. Costs a system call.
  virtual Nanos cpu_time() const { return Nanos(0); }

  // Watches `fd`, which the caller keeps. Level-triggered. Error: kOutOfRange at the kernel's limit
  // of watches.
  virtual Status add(int fd, Interest interest, std::uint64_t tag) = 0;
  virtual void change(int fd, Interest interest, std::uint64_t tag) = 0;
  virtual void remove(int fd) = 0;

  // Waits until a descriptor is ready, wake() is called, the time `due` comes (max: never), or
  // `at_most` has passed (max: no limit). With `may_sleep` false it returns at once. The result is
  // valid until the next call.
  virtual std::span<const Event> wait(TimePoint due, Nanos at_most, bool may_sleep) = 0;
  virtual void wake() = 0;  // thread-safe
  // Whether the loop also rests between two waits, so that each first post needs a wake().
  virtual bool rests_between_waits() const { return false; }

  // Starts to connect (see Stream).
  virtual Result<Stream> connect(const ResolvedAddress& address, const TlsContext& context) = 0;
};

}  // namespace heatsink::net
