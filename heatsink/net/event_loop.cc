// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/event_loop.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "heatsink/net/fatal.h"
#include "heatsink/net/fd.h"
#include "heatsink/net/mailbox.h"
#include "heatsink/net/watch_table.h"

namespace heatsink::net {
namespace {

static_assert(static_cast<std::uint32_t>(Interest::kRead) == EPOLLIN);
static_assert(static_cast<std::uint32_t>(Interest::kWrite) == EPOLLOUT);

// More would let one turn's first clients wait longer for their replies, which leave at the turn's
// end.
constexpr int kEventsPerTurn = 256;
// Tags of the loop's own descriptors: no registration has such numbers.
constexpr std::uint64_t kWakeTag = ~std::uint64_t{0};
constexpr std::uint64_t kAlarmTag = kWakeTag - 1;

// -1: for ever. Rounded up, so that a short wait is not a spin.
int timeout_ms(Nanos wait) {
  if (wait == Nanos::max()) return -1;
  const auto ms =
      std::chrono::ceil<Millis>(std::clamp(wait, Nanos(0), Nanos(std::chrono::hours(1))));
  return static_cast<int>(ms.count());
}

// Edge-triggered: a write to the eventfd, or an expiry of the alarm, is heard once and needs no
// read().
void watch_own(const Fd& epoll, int fd, std::uint64_t tag) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = tag}};
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) die_of_errno("epoll_ctl");
}

}  // namespace

struct EventLoop::State {
  State();
  bool set_alarm(TimePoint now);
  int sleep(int ms);
  void dispatch(const epoll_event& event);

  Fd epoll{epoll_create1(EPOLL_CLOEXEC)};
  Fd alarm{timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)};
  TimePoint alarm_due = TimePoint::max();  // max: not set
  Mailbox mailbox;
  WatchTable watches;
  TimerQueue timers;
  std::vector<std::function<void()>> turn_end;
  std::vector<std::function<void()>> before_sleep;
  std::vector<std::function<void()>> after_sleep;
  std::array<epoll_event, kEventsPerTurn> events;
  bool stopping = false;
};

EventLoop::State::State() {
  if (!epoll) die_of_errno("epoll_create1");
  if (!alarm) die_of_errno("timerfd_create");
  watch_own(epoll, mailbox.wake_fd(), kWakeTag);
  watch_own(epoll, alarm.get(), kAlarmTag);
}

// Sees to it that a sleep ends when the next timer is due; false when one is due already.
//
// Why not the timeout of epoll_wait: that one stands still while the machine is suspended and knows
// only milliseconds. It is not faster: no difference in CPU time showed (docs/decisions/0001). Set
// anew only for an earlier timer or after it rang; when its timer was cancelled it rings for
// nobody, once.
bool EventLoop::State::set_alarm(TimePoint now) {
  const std::optional<TimePoint> due = timers.next_due();
  if (!due) return true;
  if (*due <= now) return false;
  if (*due >= alarm_due) return true;
  alarm_due = *due;
  const auto since_boot = due->time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  const itimerspec when{.it_interval = {},
                        .it_value = {seconds.count(), (since_boot - seconds).count()}};
  if (timerfd_settime(alarm.get(), TFD_TIMER_ABSTIME, &when, nullptr) != 0)
    die_of_errno("timerfd_settime");
  return true;
}

// Returns how many events there are.
int EventLoop::State::sleep(int ms) {
  const bool sleeps = ms != 0 && mailbox.may_sleep();
  if (sleeps)
    for (auto& hook : before_sleep) hook();
  const int count = epoll_wait(epoll.get(), events.data(), kEventsPerTurn, sleeps ? ms : 0);
  if (sleeps)
    for (auto& hook : after_sleep) hook();
  assert(count >= 0 || errno == EINTR);
  return std::max(count, 0);
}

void EventLoop::State::dispatch(const epoll_event& event) {
  const std::uint64_t tag = event.data.u64;
  if (tag == kWakeTag) return;
  if (tag == kAlarmTag) {
    alarm_due = TimePoint::max();
    return;
  }
  // Asked anew before each call: the one before may have changed or ended the registration.
  const auto ready = [&](std::uint32_t bits) {
    const WatchTable::Watch* watch = watches.find(tag);
    return watch != nullptr &&
           (event.events & bits & static_cast<std::uint32_t>(watch->interest)) != 0;
  };
  const bool readable = ready(EPOLLIN);
  if (readable) watches.find(tag)->handler->on_readable();
  const bool writable = ready(EPOLLOUT);
  if (writable) watches.find(tag)->handler->on_writable();
  if (readable || writable || (event.events & (EPOLLHUP | EPOLLERR)) == 0) return;
  if (const WatchTable::Watch* watch = watches.find(tag)) watch->handler->on_hangup();
}

EventLoop::EventLoop() : state_(std::make_unique<State>()), now_(BootClock::now()) {}
EventLoop::~EventLoop() = default;

Status EventLoop::add(int fd, Interest interest, FdHandler& handler) {
  epoll_event event{.events = static_cast<std::uint32_t>(interest),
                    .data = {.u64 = state_->watches.add(fd, interest, handler)}};
  if (epoll_ctl(state_->epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Unit{};
  const int reason = errno;
  state_->watches.remove(fd);
  return Error{ErrorCode::kOutOfRange,
               "cannot watch one more connection: " + std::system_category().message(reason) +
                   "; raise the kernel setting fs.epoll.max_user_watches"};
}

void EventLoop::change(int fd, Interest interest) {
  WatchTable::Watch& watch = state_->watches.at(fd);
  if (watch.interest == interest) return;
  watch.interest = interest;
  epoll_event event{.events = static_cast<std::uint32_t>(interest),
                    .data = {.u64 = WatchTable::tag(fd, watch)}};
  [[maybe_unused]] const int failed = epoll_ctl(state_->epoll.get(), EPOLL_CTL_MOD, fd, &event);
  assert(!failed);  // only for a descriptor that was closed before it was removed
}

void EventLoop::remove(int fd) {
  state_->watches.remove(fd);
  [[maybe_unused]] const int failed = epoll_ctl(state_->epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
  assert(!failed);
}

TimerId EventLoop::call_at(TimePoint due, std::function<void()> callback) {
  return state_->timers.add(due, Nanos(0), std::move(callback));
}
TimerId EventLoop::call_after(Nanos delay, std::function<void()> callback) {
  return call_at(BootClock::now() + delay, std::move(callback));
}
TimerId EventLoop::call_every(Nanos period, std::function<void()> callback) {
  assert(period > Nanos(0));
  return state_->timers.add(BootClock::now() + period, period, std::move(callback));
}
void EventLoop::cancel(TimerId timer) { state_->timers.cancel(timer); }

void EventLoop::post(std::function<void()> work) { state_->mailbox.post(std::move(work)); }

void EventLoop::on_turn_end(std::function<void()> hook) {
  state_->turn_end.push_back(std::move(hook));
}
void EventLoop::around_sleep(std::function<void()> before, std::function<void()> after) {
  state_->before_sleep.push_back(std::move(before));
  state_->after_sleep.push_back(std::move(after));
}

void EventLoop::run() {
  while (!state_->stopping) turn(Nanos::max());
  state_->stopping = false;
}

void EventLoop::stop() {
  post([this] { state_->stopping = true; });
}

void EventLoop::turn(Nanos wait) {
  const int count = state_->sleep(state_->set_alarm(now_) ? timeout_ms(wait) : 0);
  now_ = BootClock::now();
  for (int i = 0; i < count; ++i) state_->dispatch(state_->events[static_cast<std::size_t>(i)]);
  state_->timers.run_due(now_);
  state_->mailbox.run_posted();
  for (auto& hook : state_->turn_end) hook();
}

}  // namespace heatsink::net
