// SPDX-License-Identifier: Apache-2.0
// One thread's events: ready connections, due timers, and work posted by other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/poller.h"
#include "heatsink/net/timer_queue.h"

namespace heatsink::net {

// Runs on one thread; only post() and stop() may be called from others (none from a signal
// handler). A turn: events (256 at most), due timers, posted work, turn-end hooks. Handlers are not
// owned: a handler removes itself before it dies, which it may do at any time, also inside a
// callback: no event of a removed registration is delivered, even if it was already fetched from
// the kernel.
// Cost: one wait and one look at the clock per turn; of the system calls below, see EpollPoller.
class EventLoop {
 public:
  EventLoop();                                         // the kernel's: see EpollPoller
  explicit EventLoop(std::unique_ptr<Poller> poller);  // null: the kernel's
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
  // Around a sleep in Poller::wait(), not around a look that returns at once: for marking this
  // thread as holding no reference (QSBR).
  void around_sleep(std::function<void()> before, std::function<void()> after);

  // The time read at the beginning of the turn: good for timers and slots, not for leases.
  TimePoint now() const { return now_; }
  TimePoint clock() const;  // the time now

  // Starts to connect; wait until the stream is writable for its first open().
  Result<Stream> connect(const ResolvedAddress& address, const TlsContext& context);

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
