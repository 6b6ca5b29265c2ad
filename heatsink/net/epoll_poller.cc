// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/epoll_poller.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <string>
#include <system_error>

#include "heatsink/base/thread_cpu.h"
#include "heatsink/net/fatal.h"

namespace heatsink::net {
namespace {

static_assert(static_cast<std::uint32_t>(Interest::kRead) == EPOLLIN);
static_assert(static_cast<std::uint32_t>(Interest::kWrite) == EPOLLOUT);

// Tags of the poller's own descriptors; registrations never have these numbers.
constexpr std::uint64_t kWakeTag = ~std::uint64_t{0};
constexpr std::uint64_t kAlarmTag = kWakeTag - 1;

// -1: no limit. Rounds up, so that a short wait does not become a busy loop.
int timeout_ms(Nanos wait) {
  if (wait == Nanos::max()) return -1;
  const auto ms =
      std::chrono::ceil<Millis>(std::clamp(wait, Nanos(0), Nanos(std::chrono::hours(1))));
  return static_cast<int>(ms.count());
}

// Edge-triggered: each write to the eventfd and each expiry of the timer is reported once and needs
// no read().
void watch_own(const Fd& epoll, int fd, std::uint64_t tag) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = tag}};
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) die_of_errno("epoll_ctl");
}

}  // namespace

EpollPoller::EpollPoller()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      alarm_(timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!epoll_) die_of_errno("epoll_create1");
  if (!alarm_) die_of_errno("timerfd_create");
  if (!wake_) die_of_errno("eventfd");
  watch_own(epoll_, wake_.get(), kWakeTag);
  watch_own(epoll_, alarm_.get(), kAlarmTag);
}

Nanos EpollPoller::cpu_time() const { return thread_cpu_time(); }

Status EpollPoller::add(int fd, Interest interest, std::uint64_t tag) {
  epoll_event event{.events = static_cast<std::uint32_t>(interest), .data = {.u64 = tag}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Unit{};
  return Error{ErrorCode::kOutOfRange,
               "cannot watch one more connection: " + std::system_category().message(errno) +
                   "; raise the kernel setting fs.epoll.max_user_watches"};
}

void EpollPoller::change(int fd, Interest interest, std::uint64_t tag) {
  epoll_event event{.events = static_cast<std::uint32_t>(interest), .data = {.u64 = tag}};
  [[maybe_unused]] const int failed = epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
  assert(!failed);  // only for a descriptor that was closed before it was removed
}

void EpollPoller::remove(int fd) {
  [[maybe_unused]] const int failed = epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  assert(!failed);
}

// Does not use the timeout of epoll_wait, which stops while the machine is suspended and has only
// milliseconds. That would not be faster either: no difference in CPU time (docs/decisions/0001).
// The timerfd is set again only for an earlier timer, or after it expired; if its timer was
// cancelled, it expires once for nothing.
void EpollPoller::set_alarm(TimePoint due) {
  if (due >= alarm_due_) return;
  alarm_due_ = due;
  const auto since_boot = due.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  const itimerspec when{.it_interval = {},
                        .it_value = {seconds.count(), (since_boot - seconds).count()}};
  if (timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &when, nullptr) != 0)
    die_of_errno("timerfd_settime");
}

std::span<const Poller::Event> EpollPoller::wait(TimePoint due, Nanos at_most, bool may_sleep) {
  if (may_sleep) set_alarm(due);
  const int count = epoll_wait(epoll_.get(), kernel_events_.data(), kEventsPerTurn,
                               may_sleep ? timeout_ms(at_most) : 0);
  assert(count >= 0 || errno == EINTR);
  std::size_t heard = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = kernel_events_[static_cast<std::size_t>(i)];
    if (event.data.u64 == kWakeTag) continue;
    if (event.data.u64 == kAlarmTag) {
      alarm_due_ = TimePoint::max();
      continue;
    }
    events_[heard++] = {.tag = event.data.u64,
                        .ready = static_cast<Interest>(event.events & (EPOLLIN | EPOLLOUT)),
                        .hangup = (event.events & (EPOLLHUP | EPOLLERR)) != 0};
  }
  return {events_.data(), heard};
}

// Cannot fail: the counter would have to reach 2^64 - 2.
void EpollPoller::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace heatsink::net
