// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/courier.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/log.h"

namespace heatsink::alerts {

Courier::Courier(Target target, Nanos retry_for)
    : target_(std::move(target)), delivery_(retry_for) {
  const BlockedSignals blocked;
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "heatsink-courier");
    run();
  });
}

Courier::~Courier() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Courier::post(std::vector<Notice> notices) {
  {
    const std::lock_guard lock(mutex_);
    const TimePoint now = BootClock::now();
    for (Notice& notice : notices) delivery_.add(std::move(notice), now);
  }
  changed_.notify_one();
}

Courier::Counts Courier::counts() const {
  const std::lock_guard lock(mutex_);
  Counts out = counts_;
  out.dropped_full = delivery_.dropped_full();
  out.dropped_late = delivery_.dropped_late();
  out.dropped_refused = delivery_.dropped_refused();
  out.waiting = delivery_.waiting();
  return out;
}

std::vector<Notice> Courier::undelivered() const {
  const std::lock_guard lock(mutex_);
  return delivery_.undelivered();
}

void Courier::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const TimePoint now = BootClock::now();
    const std::vector<Notice> message = delivery_.take(now);
    if (!message.empty()) {
      attempt(lock, message);
    } else if (delivery_.due_at() == TimePoint::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, delivery_.due_at() - now);
    }
  }
}

void Courier::attempt(std::unique_lock<std::mutex>& lock, const std::vector<Notice>& message) {
  lock.unlock();
  const Outcome outcome = target_.send(message, stop_);
  if (!stop_) say(outcome);
  lock.lock();
  delivery_.attempted(outcome, BootClock::now());
  if (outcome.kind == Outcome::Kind::kDelivered) {
    counts_.delivered += message.size();
  } else {
    ++counts_.failed;
  }
}

// One line when it begins to fail, with another reason, and when it works again.
void Courier::say(const Outcome& outcome) {
  const std::string before = std::exchange(problem_, outcome.problem);
  if (outcome.kind == Outcome::Kind::kRefused) {
    log_limited(LogLevel::kError, "alerts: refused by " + target_.label,
                target_.shown + " refuses alerts, so they are dropped: " + outcome.problem +
                    ": mend alerts." + target_.label + "; 'heatsink alert test' tries it",
                BootClock::now());
  } else if (outcome.kind == Outcome::Kind::kRetry && outcome.problem != before) {
    log_limited(LogLevel::kWarning, "alerts: not delivered to " + target_.label,
                target_.shown + " does not take alerts: " + outcome.problem +
                    ": they wait, and are tried again",
                BootClock::now());
  } else if (outcome.kind == Outcome::Kind::kDelivered && !before.empty()) {
    log(LogLevel::kInfo, target_.shown + " takes alerts again");
  }
}

}  // namespace heatsink::alerts
