// SPDX-License-Identifier: Apache-2.0
// Waits for the kernel: epoll, with a timerfd for the next timer and an eventfd to end a sleep.
#pragma once

#include <sys/epoll.h>

#include <array>

#include "heatsink/net/fd.h"
#include "heatsink/net/poller.h"

namespace heatsink::net {

// Cost: one epoll_wait per wait(), one epoll_ctl per change of interest, none per event; one
// timerfd_settime when another timer becomes the next one, or the next one has run.
class EpollPoller final : public Poller {
 public:
  EpollPoller();  // ends the program with a message if the kernel has no descriptor left

  TimePoint clock() const override { return BootClock::now(); }
  Nanos cpu_time() const override;
  Status add(int fd, Interest interest, std::uint64_t tag) override;
  void change(int fd, Interest interest, std::uint64_t tag) override;
  void remove(int fd) override;
  std::span<const Event> wait(TimePoint due, Nanos at_most, bool may_sleep) override;
  void wake() override;
  Result<Stream> connect(const ResolvedAddress& address, const TlsContext& context) override {
    return Stream::connect(address, context);
  }

 private:
  // With more events, a turn's first clients would wait longer for their replies, which are sent at
  // the end of the turn.
  static constexpr std::size_t kEventsPerTurn = 256;

  void set_alarm(TimePoint due);

  Fd epoll_;
  Fd alarm_;
  Fd wake_;
  TimePoint alarm_due_ = TimePoint::max();  // max(): not set
  std::array<epoll_event, kEventsPerTurn> kernel_events_;
  std::array<Event, kEventsPerTurn> events_;
};

}  // namespace heatsink::net
