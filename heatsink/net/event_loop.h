// SPDX-License-Identifier: Apache-2.0
// Runs the events of one thread: ready connections, due timers, and work posted by other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/interest.h"
#include "heatsink/net/mailbox.h"
#include "heatsink/net/poller.h"
#include "heatsink/net/timer_queue.h"

namespace heatsink::net {

// Runs on one thread; other threads may call only post(), try_post(), mailbox() and stop()
// (signal handlers none of them). A turn handles events (256 at most), due timers, posted work, and
// turn-end hooks, in this order. The loop does not own handlers. A handler removes itself before it
// is destroyed; it may do so at any time, even inside a callback. Events of a removed registration
// are never delivered, even if they were already fetched from the kernel. Cost: one wait and one
// reading of the clock per turn; for system calls see EpollPoller.
class EventLoop {
 public:
  EventLoop();                                         // uses an EpollPoller
  explicit EventLoop(std::unique_ptr<Poller> poller);  // null: an EpollPoller
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;

  // The caller keeps `fd`. Error: kOutOfRange at the kernel's limit of watches.
  Status add(int fd, Interest interest, FdHandler& handler);
  void change(int fd, Interest interest);  // makes no system call if nothing changes
  void remove(int fd);                     // REQUIRES an added fd; call it before close(fd)

  // Calls `callback` once, at or soon after `due`. O(log n).
  TimerId call_at(TimePoint due, std::function<void()> callback);
  TimerId call_after(Nanos delay, std::function<void()> callback);
  // Calls `callback` each `period`, first after one period. Missed calls are not made up for.
  TimerId call_every(Nanos period, std::function<void()> callback);
  void cancel(TimerId timer);  // no effect on 0 or a timer that has run

  // Thread-safe: runs `work` on the loop's thread in its next turn. Keeps the order within each
  // posting thread. One eventfd write per batch. Destroying the loop drops queued work.
  void post(std::function<void()> work);
  // Any thread: the same for work that its sender can do without. False: too much work waits.
  [[nodiscard]] bool try_post(std::function<void()> work);
  Mailbox::Counts mailbox() const;  // any thread
  bool is_full() const;             // any thread: try_post() would refuse

  // Called at the end of each turn, to flush the turn's output. Add hooks before run(), never
  // inside a hook; they stay.
  void on_turn_end(std::function<void()> hook);
  // Called around a sleep in Poller::wait(), not around a wait that returns at once. They mark that
  // this thread holds no reference (QSBR).
  void around_sleep(std::function<void()> before, std::function<void()> after);

  // The time read at the beginning of the turn: good enough for timers and slots, not for leases.
  TimePoint now() const { return now_; }
  TimePoint clock() const;  // reads the clock
  Nanos cpu_time() const;   // of the calling thread; see Poller

  // Starts to connect. Call open() on the stream when it is writable.
  Result<Stream> connect(const ResolvedAddress& address, const TlsContext& context);

  void run();   // until stop()
  void stop();  // thread-safe, also before run(); work posted earlier runs first
  // Runs one turn that waits at most `wait` (rounded up to a millisecond); for tests.
  void turn(Nanos wait);

 private:
  struct State;
  std::unique_ptr<State> state_;
  TimePoint now_;
};

}  // namespace heatsink::net
