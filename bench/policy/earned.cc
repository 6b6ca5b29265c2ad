// SPDX-License-Identifier: Apache-2.0
#include "bench/policy/earned.h"

#include "heatsink/replay/replay.h"

namespace heatsink::bench {

EarnedPolicy::EarnedPolicy(std::size_t keys, std::size_t copies, double fill_cost)
    : reads_to_pay_(admit::reads_to_pay(fill_cost, 0)),
      chooser_({.copies = copies,
                .costs = {.fill = fill_cost, .reads_to_pay = reads_to_pay_},
                .life = std::chrono::hours(1)}),
      sightings_(copies * admit::Choice::kHistoryMax),
      counter_(sightings_),
      links_(keys),
      entries_(keys),
      queue_(links_),
      copies_max_(copies) {}

Outcome EarnedPolicy::read(KeyHash key_hash) {
  if (chooser_.samples(key_hash)) chooser_.read(key_hash, TimePoint{});
  const std::uint32_t key = replay::key_of_hash(key_hash);
  Entry& entry = entries_[key];
  if (entry.is_held) {
    entry.is_visited = true;
    const bool hit = entry.is_filled;
    entry.served = hit ? entry.served + 1 : 0;
    entry.is_filled = true;
    return {.hit = hit, .filled = !hit};
  }
  if (!earns_copy(key_hash)) return {};
  sightings_.forget(key_hash);
  if (queue_.size() >= copies_max_) evict();
  queue_.push(key);
  entry = {.is_held = true, .is_filled = true};
  return {.filled = true};
}

bool EarnedPolicy::earns_copy(KeyHash key_hash) {
  const admit::Choice& choice = chooser_.choice();
  const std::uint32_t needed = choice.reads_if(queue_.size() < copies_max_);
  return needed != admit::Choice::kNever &&
         counter_.see(key_hash, copies_max_ * choice.history) >= needed;
}

void EarnedPolicy::write(KeyHash key_hash) {
  if (chooser_.samples(key_hash)) chooser_.write(key_hash);
  sightings_.forget(key_hash);
  const std::uint32_t key = replay::key_of_hash(key_hash);
  Entry& entry = entries_[key];
  if (!entry.is_filled) return;
  ++invalidated_;
  entry.is_filled = false;
  if (entry.served < reads_to_pay_) drop(key);
}

void EarnedPolicy::evict() {
  const bool is_clock = chooser_.choice().order == admit::EvictionOrder::kClock;
  for (;;) {
    if (hand_ == kNoKey || is_clock) hand_ = queue_.oldest();
    const std::uint32_t key = hand_;
    if (!entries_[key].is_visited) return drop(key);
    entries_[key].is_visited = false;
    hand_ = queue_.newer(key);
    if (is_clock) queue_.renew(key);
  }
}

void EarnedPolicy::drop(std::uint32_t key) {
  if (hand_ == key) hand_ = queue_.newer(key);
  queue_.erase(key);
  entries_[key] = {};
}

std::unique_ptr<CopyPolicy> make_earned(std::size_t keys, std::size_t copies, double fill_cost) {
  return std::make_unique<EarnedPolicy>(keys, copies, fill_cost);
}

}  // namespace heatsink::bench
