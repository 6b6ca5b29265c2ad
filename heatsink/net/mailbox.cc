// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/mailbox.h"

#include <utility>

namespace heatsink::net {

void Mailbox::post(std::function<void()> work) {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const State before = state_.exchange(State::kPosted);
  if (before == State::kAsleep || (wakes_always_ && before == State::kAwake)) wake_();
}

bool Mailbox::try_post(std::function<void()> work) {
  if (is_full()) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  post(std::move(work));
  return true;
}

bool Mailbox::may_sleep() {
  State expected = State::kAwake;
  return state_.compare_exchange_strong(expected, State::kAsleep);
}

void Mailbox::run_posted() {
  if (state_.exchange(State::kAwake) != State::kPosted) return;
  {
    const std::lock_guard lock(mutex_);
    running_.swap(posted_);
  }
  for (std::function<void()>& work : running_) work();
  waiting_.fetch_sub(running_.size(), std::memory_order_relaxed);
  running_.clear();
}

}  // namespace heatsink::net
