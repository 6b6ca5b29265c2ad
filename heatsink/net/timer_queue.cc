// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/timer_queue.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heatsink::net {
namespace {

TimerId make_id(std::uint32_t place, std::uint32_t generation) {
  return (TimerId{generation} << 32) | place;
}
std::uint32_t index_of(TimerId id) { return static_cast<std::uint32_t>(id); }
std::uint32_t generation_of(TimerId id) { return static_cast<std::uint32_t>(id >> 32); }

}  // namespace

TimerId TimerQueue::add(TimePoint due, Nanos period, std::function<void()> callback) {
  assert(callback && period >= Nanos(0));
  const std::uint32_t place = take_place();
  Timer& timer = timers_[place];
  // Never before the current run: run_due() stops at the first timer younger than itself, so a
  // young timer must not stand before an old one.
  timer.due = std::max(due, last_run_);
  timer.sequence = next_sequence_++;
  timer.period = period;
  timer.callback = std::move(callback);
  heap_.push_back(place);
  put(heap_.size() - 1, place);
  sift_up(heap_.size() - 1);
  return make_id(place, timer.generation);
}

void TimerQueue::cancel(TimerId id) {
  Timer* timer = find(id);
  if (timer == nullptr) return;
  // Moves it out first: objects owned by the callback may call this queue when they are destroyed.
  const std::function<void()> callback = std::exchange(timer->callback, nullptr);
  release(index_of(id));
}

std::optional<TimePoint> TimerQueue::next_due() const {
  if (heap_.empty()) return std::nullopt;
  return timers_[heap_.front()].due;
}

void TimerQueue::run_due(TimePoint now) {
  last_run_ = std::max(last_run_, now);
  const std::uint64_t first_young = next_sequence_;
  while (!heap_.empty()) {
    const Timer& first = timers_[heap_.front()];
    if (first.due > now || first.sequence >= first_young) return;
    run_first(now);
  }
}

void TimerQueue::run_first(TimePoint now) {
  const std::uint32_t place = heap_.front();
  Timer& timer = timers_[place];  // invalidated by the first add() in the callback
  const TimerId id = make_id(place, timer.generation);
  std::function<void()> callback = std::exchange(timer.callback, nullptr);
  if (timer.period == Nanos(0)) {
    release(place);
    callback();
    return;
  }
  timer.due = now + timer.period;
  timer.sequence = next_sequence_++;
  sift_down(0);
  callback();
  if (Timer* still_there = find(id)) still_there->callback = std::move(callback);
}

TimerQueue::Timer* TimerQueue::find(TimerId id) {
  if (index_of(id) >= timers_.size()) return nullptr;
  Timer& timer = timers_[index_of(id)];
  const bool alive = timer.generation == generation_of(id) && timer.heap_index != kNowhere;
  return alive ? &timer : nullptr;
}

std::uint32_t TimerQueue::take_place() {
  if (free_places_.empty()) {
    free_places_.push_back(static_cast<std::uint32_t>(timers_.size()));
    timers_.emplace_back();
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  return place;
}

void TimerQueue::release(std::uint32_t place) {
  Timer& timer = timers_[place];
  const std::size_t hole = std::exchange(timer.heap_index, kNowhere);
  if (++timer.generation == 0) timer.generation = 1;  // no id is 0
  free_places_.push_back(place);
  const std::uint32_t last = heap_.back();
  heap_.pop_back();
  if (hole == heap_.size()) return;
  put(hole, last);
  sift_up(hole);
  sift_down(timers_[last].heap_index);
}

bool TimerQueue::before(std::uint32_t place, std::uint32_t other) const {
  const Timer& a = timers_[place];
  const Timer& b = timers_[other];
  return a.due != b.due ? a.due < b.due : a.sequence < b.sequence;
}

void TimerQueue::put(std::size_t index, std::uint32_t place) {
  heap_[index] = place;
  timers_[place].heap_index = index;
}

void TimerQueue::sift_up(std::size_t index) {
  const std::uint32_t place = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!before(place, heap_[parent])) break;
    put(index, heap_[parent]);
    index = parent;
  }
  put(index, place);
}

void TimerQueue::sift_down(std::size_t index) {
  const std::uint32_t place = heap_[index];
  for (std::size_t child = 2 * index + 1; child < heap_.size(); child = 2 * index + 1) {
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], place)) break;
    put(index, heap_[child]);
    index = child;
  }
  put(index, place);
}

}  // namespace heatsink::net
