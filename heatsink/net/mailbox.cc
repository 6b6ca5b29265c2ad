// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "heatsink/net/fatal.h"

namespace heatsink::net {

Mailbox::Mailbox() : wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!wake_fd_) die_of_errno("eventfd");
}

void Mailbox::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  if (state_.exchange(State::kPosted) != State::kAsleep) return;
  // Cannot fail: the counter would have to reach 2^64 - 2.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof one);
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
  running_.clear();
}

}  // namespace heatsink::net
