// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/event_loop.h"

#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "heatsink/net/epoll_poller.h"
#include "heatsink/net/mailbox.h"
#include "heatsink/net/watch_table.h"

namespace heatsink::net {

struct EventLoop::State {
  explicit State(std::unique_ptr<Poller> system)
      : poller(std::move(system)),
        mailbox([this] { poller->wake(); }, poller->rests_between_waits()) {}
  std::span<const Poller::Event> wait(TimePoint now, Nanos at_most);
  void dispatch(const Poller::Event& event);

  const std::unique_ptr<Poller> poller;
  Mailbox mailbox;
  WatchTable watches;
  TimerQueue timers;
  std::vector<std::function<void()>> turn_end;
  std::vector<std::function<void()>> before_sleep;
  std::vector<std::function<void()>> after_sleep;
  bool stopping = false;
};

std::span<const Poller::Event> EventLoop::State::wait(TimePoint now, Nanos at_most) {
  const TimePoint due = timers.next_due().value_or(TimePoint::max());
  const bool sleeps = due > now && at_most > Nanos(0) && mailbox.may_sleep();
  if (sleeps)
    for (auto& hook : before_sleep) hook();
  const std::span<const Poller::Event> events = poller->wait(due, at_most, sleeps);
  if (sleeps)
    for (auto& hook : after_sleep) hook();
  return events;
}

void EventLoop::State::dispatch(const Poller::Event& event) {
  // Looks it up before each call: the call before may have changed or ended the registration.
  const auto ready = [&](Interest what) {
    const WatchTable::Watch* watch = watches.find(event.tag);
    return watch != nullptr && includes(event.ready, what) && includes(watch->interest, what);
  };
  const bool readable = ready(Interest::kRead);
  if (readable) watches.find(event.tag)->handler->on_readable();
  const bool writable = ready(Interest::kWrite);
  if (writable) watches.find(event.tag)->handler->on_writable();
  if (readable || writable || !event.hangup) return;
  if (const WatchTable::Watch* watch = watches.find(event.tag)) watch->handler->on_hangup();
}

EventLoop::EventLoop() : EventLoop(nullptr) {}
EventLoop::EventLoop(std::unique_ptr<Poller> poller)
    : state_(std::make_unique<State>(poller ? std::move(poller) : std::make_unique<EpollPoller>())),
      now_(clock()) {}
EventLoop::~EventLoop() = default;

TimePoint EventLoop::clock() const { return state_->poller->clock(); }
Nanos EventLoop::cpu_time() const { return state_->poller->cpu_time(); }

Result<Stream> EventLoop::connect(const ResolvedAddress& address, const TlsContext& context) {
  return state_->poller->connect(address, context);
}

Status EventLoop::add(int fd, Interest interest, FdHandler& handler) {
  Status added = state_->poller->add(fd, interest, state_->watches.add(fd, interest, handler));
  if (!added.ok()) state_->watches.remove(fd);
  return added;
}

void EventLoop::change(int fd, Interest interest) {
  WatchTable::Watch& watch = state_->watches.at(fd);
  if (watch.interest == interest) return;
  watch.interest = interest;
  state_->poller->change(fd, interest, WatchTable::tag(fd, watch));
}

void EventLoop::remove(int fd) {
  state_->watches.remove(fd);
  state_->poller->remove(fd);
}

TimerId EventLoop::call_at(TimePoint due, std::function<void()> callback) {
  return state_->timers.add(due, Nanos(0), std::move(callback));
}
TimerId EventLoop::call_after(Nanos delay, std::function<void()> callback) {
  return call_at(clock() + delay, std::move(callback));
}
TimerId EventLoop::call_every(Nanos period, std::function<void()> callback) {
  assert(period > Nanos(0));
  return state_->timers.add(clock() + period, period, std::move(callback));
}
void EventLoop::cancel(TimerId timer) { state_->timers.cancel(timer); }

void EventLoop::post(std::function<void()> work) { state_->mailbox.post(std::move(work)); }

bool EventLoop::try_post(std::function<void()> work) {
  return state_->mailbox.try_post(std::move(work));
}
Mailbox::Counts EventLoop::mailbox() const { return state_->mailbox.counts(); }
bool EventLoop::is_full() const { return state_->mailbox.is_full(); }

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
  const std::span<const Poller::Event> events = state_->wait(now_, wait);
  now_ = clock();
  for (const Poller::Event& event : events) state_->dispatch(event);
  state_->timers.run_due(now_);
  state_->mailbox.run_posted();
  for (auto& hook : state_->turn_end) hook();
}

}  // namespace heatsink::net
