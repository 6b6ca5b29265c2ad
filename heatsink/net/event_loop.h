// SPDX-License-Identifier: Apache-2.0
// One thread's epoll: readiness, timers, and work posted by other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/timer_queue.h"

namespace heatsink::net {

// What a registered file descriptor can hear. Level-triggered.
class FdHandler {
 public:
  virtual void on_readable() = 0;
  virtual void on_writable() = 0;
  // EPOLLHUP or EPOLLERR while it may not read or cannot write: the peer is gone. Heard with kNone
  // too, and each turn anew until removed. The default treats it as readable, so that read() tells
  // the error.
  virtual void on_hangup() { on_readable(); }

 protected:
  ~FdHandler() = default;
};

enum class Interest : std::uint32_t { kNone = 0, kRead = 1, kWrite = 4, kReadWrite = 5 };

// Runs on one thread; only post() and stop() may be called from others (none from a signal
// handler). A turn: events (256 at most), due timers, posted work, turn-end hooks. Handlers are not
// owned: a handler removes itself before it dies, which it may do at any time, also inside a
// callback: no event of a removed registration is delivered, even if it was already fetched from
// the kernel.
// Cost: one epoll_wait and one look at the clock per turn, one epoll_ctl per change of interest,
// none per event; one timerfd_settime when a timer becomes the next one, or the next one has run.
class EventLoop {
 public:
  EventLoop();  // ends the program with a sentence when the kernel has no descriptor left for it
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;

  // `fd` stays the caller's. Status: kOutOfRange when the kernel's limit of watches is reached.
  Status add(int fd, Interest interest, FdHandler& handler);
  void change(int fd, Interest interest);  // no system call if nothing changes
  void remove(int fd);                     // REQUIRES added; before close(fd)

  // Calls `callback` once, at or soon after `due`. O(log n).
  TimerId call_at(TimePoint due, std::function<void()> callback);
  TimerId call_after(Nanos delay, std::function<void()> callback);
  // Calls it every `period`, first after one period; late turns are not made up for.
  TimerId call_every(Nanos period, std::function<void()> callback);
  void cancel(TimerId timer);  // no effect on one that has run, or is 0

  // Thread-safe: runs `work` on the loop's thread in its next turn, in the order posted by each
  // thread; one eventfd write per batch. Work still queued when the loop is destroyed is dropped.
  void post(std::function<void()> work);

  // At the end of each turn, after all else in it: for flushing what the turn produced. Hooks are
  // added before run(), never inside a hook, and stay.
  void on_turn_end(std::function<void()> hook);
  // Around a sleep in epoll_wait, not around a look that returns at once: for marking this thread
  // as holding no reference (QSBR).
  void around_sleep(std::function<void()> before, std::function<void()> after);

  // The time read after epoll_wait last returned: good for timers and slots, not for leases.
  TimePoint now() const { return now_; }

  void run();   // until stop()
  void stop();  // thread-safe, also before run(); what was posted earlier runs first
  // One turn, waiting at most `wait` (rounded up to a millisecond); for tests.
  void turn(Nanos wait);

 private:
  struct State;
  std::unique_ptr<State> state_;
  TimePoint now_;
};

}  // namespace heatsink::net
