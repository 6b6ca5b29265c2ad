// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/windows.h"

#include <algorithm>

namespace heatsink::limit {
namespace {

// Times before the clock's zero count as zero.
std::uint64_t ns_since_zero(TimePoint time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

}  // namespace

Nanos FixedWindow::time_to(std::uint64_t windows_ahead, std::uint64_t now_ns) const noexcept {
  return Nanos(static_cast<std::int64_t>(windows_ahead * length_ns_ - now_ns % length_ns_));
}

Decision FixedWindow::try_acquire(std::uint64_t n, TimePoint now) noexcept {
  const bool is_possible = n <= count_;
  const std::uint64_t by = is_possible ? n : 0;
  const std::uint64_t now_ns = ns_since_zero(now);
  const std::uint64_t floor = now_ns / length_ns_ * count_;
  const Span span{.floor = floor,
                  .top = floor + count_,
                  .absurd = ns_since_zero(now + kStandstill) / length_ns_ * count_ + count_};
  const Level::Raised raised = level_.raise(by, span);
  Decision decision{.allowed = is_possible && raised.allowed, .remaining = raised.left(span, by)};
  if (!is_possible)
    decision.retry_after = kNever;
  else if (!raised.allowed)
    decision.retry_after = time_to((raised.from + by - span.top + count_ - 1) / count_, now_ns);
  return decision;
}

// A later window has already forgotten it.
void FixedWindow::give_back(std::uint64_t n, TimePoint taken_at) noexcept {
  level_.lower(n, (ns_since_zero(taken_at) / length_ns_ + 1) * count_);
}

namespace {

constexpr unsigned kCountBits = 32;
constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;

std::uint64_t count_of(std::uint64_t slot) { return slot & kCountMask; }
std::uint64_t empty_slot(std::uint64_t number) { return number << kCountBits; }
// The number of slots by which `slot` is ahead of `now`; negative: behind.
std::int64_t ahead(std::uint64_t slot, std::uint64_t now) {
  const auto number = static_cast<std::uint32_t>(slot >> kCountBits);
  return static_cast<std::int32_t>(number - static_cast<std::uint32_t>(now));
}

}  // namespace

SlidingWindow::SlidingWindow(const Rate& rate, std::uint32_t slots)
    : count_(rate.count),
      slots_(slots),
      slot_ns_((static_cast<std::uint64_t>(rate.per.count()) + slots - 1) / slots),
      behind_max_(slots + static_cast<std::uint64_t>(kStandstill.count()) / slot_ns_ + 1) {}

std::uint64_t SlidingWindow::newest_slot(std::uint64_t now_ns) noexcept {
  const std::uint64_t slot = now_ns / slot_ns_;
  std::uint64_t seen = newest_.load();
  while (slot > seen || slot + behind_max_ < seen)
    if (newest_.compare_exchange_weak(seen, slot)) return slot;
  return seen;
}

// The sum of the window's slots before `now`.
std::uint64_t SlidingWindow::before(std::uint64_t now) noexcept {
  const Slot kept = before_.load();
  if (ahead(kept, now) == 0) return count_of(kept);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i <= slots_; ++i) {
    const Slot slot = slot_at(i).load();
    if (ahead(slot, now) < 0 && ahead(slot, now) >= -std::int64_t{slots_}) sum += count_of(slot);
  }
  before_.store(empty_slot(now) + std::min(sum, kCountMask));
  return sum;
}

// All accesses are sequentially consistent. A thread that adds to a later slot has moved newest_
// there first: it counts what was added here before, and a thread that adds here afterwards sees
// newest_ moved.
SlidingWindow::Taken SlidingWindow::take(std::uint64_t now, std::uint64_t n) noexcept {
  const std::uint64_t older = before(now);
  std::atomic<Slot>& cell = slot_at(now);
  Slot seen = cell.load();
  for (;;) {
    const Slot slot = ahead(seen, now) == 0 ? seen : empty_slot(now);
    const std::uint64_t passed = older + count_of(slot);
    if (n == 0 || passed + n > count_) return {n == 0, passed};
    if (cell.compare_exchange_weak(seen, slot + n)) return {true, passed + n};
  }
}

void SlidingWindow::give_back_to(std::uint64_t number, std::uint64_t n) noexcept {
  std::atomic<Slot>& cell = slot_at(number);
  Slot seen = cell.load();
  // If a newer slot has taken over the cell, the count is forgotten already.
  while (ahead(seen, number) == 0 &&
         !cell.compare_exchange_weak(seen, seen - std::min(count_of(seen), n))) {
  }
}

void SlidingWindow::give_back(std::uint64_t n, TimePoint taken_at) noexcept {
  give_back_to(ns_since_zero(taken_at) / slot_ns_, n);
}

void SlidingWindow::forget() noexcept {
  for (std::atomic<Slot>& cell : ring_) cell.store(0);
  before_.store(0);
}

Nanos SlidingWindow::retry_after(std::uint64_t n, std::uint64_t passed, std::uint64_t now,
                                 std::uint64_t now_ns) const noexcept {
  std::uint64_t gone = now - std::min<std::uint64_t>(now, slots_);  // the first slot that leaves
  for (; gone < now; ++gone) {
    const Slot slot = slot_at(gone).load();
    if (ahead(slot, gone) == 0) passed -= std::min(passed, count_of(slot));
    if (passed + n <= count_) break;
  }
  return Nanos(static_cast<std::int64_t>((gone + slots_ + 1) * slot_ns_ - now_ns));
}

Decision SlidingWindow::try_acquire(std::uint64_t n, TimePoint now) noexcept {
  const std::uint64_t now_ns = ns_since_zero(now);
  const bool is_possible = n <= count_;
  const std::uint64_t wanted = is_possible ? n : 0;
  std::uint64_t slot = newest_slot(now_ns);
  Taken taken = take(slot, wanted);
  for (std::uint64_t newest = newest_.load(); newest != slot; newest = newest_.load()) {
    if (taken.allowed) give_back_to(slot, wanted);
    slot = newest;
    taken = take(slot, wanted);
  }
  Decision decision{.allowed = is_possible && taken.allowed,
                    .remaining = taken.passed < count_ ? count_ - taken.passed : 0};
  if (!is_possible)
    decision.retry_after = kNever;
  else if (!taken.allowed)
    decision.retry_after = retry_after(n, taken.passed, slot, now_ns);
  return decision;
}

}  // namespace heatsink::limit
