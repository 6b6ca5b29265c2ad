// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/watch.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/log.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/doctor/finding.h"

namespace heatsink::doctor {
namespace {

constexpr Nanos kTurn = std::chrono::seconds(1);

}  // namespace

Watch::Watch(Sources sources) : sources_(std::move(sources)) {
  const BlockedSignals blocked;
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "heatsink-doctor");
    run();
  });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watch::run() {
  do {
    bool is_due = false;
    {
      const std::lock_guard lock(mutex_);
      is_due = state_.is_due(BootClock::now(), sources_.contacts());
    }
    if (is_due) look();
  } while (wait());
}

bool Watch::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, kTurn, [this] { return stop_.load(); });
  return !stop_;
}

void Watch::look() {
  When when = When::kStart;
  {
    const std::lock_guard lock(mutex_);
    when = state_.next();
  }
  const Facts facts = sources_.look(when, stop_);
  if (stop_) return;
  Findings news;
  {
    const std::lock_guard lock(mutex_);
    state_.learn(facts, when, BootClock::now(), sources_.contacts());
    checked_at_ = iso_time(std::chrono::system_clock::now());
    news = state_.take_news();
  }
  for (const Finding& finding : news)
    log(finding.level == Level::kError ? LogLevel::kError : LogLevel::kWarning, log_line(finding));
}

Status Watch::verdict(Status ready) const {
  const std::lock_guard lock(mutex_);
  return state_.verdict(std::move(ready));
}

Diagnosis Watch::diagnosis(Status ready) const {
  const std::lock_guard lock(mutex_);
  const Status verdict = state_.verdict(std::move(ready));
  return {.is_ready = verdict.ok(),
          .problem = verdict.ok() ? "" : verdict.error().message,
          .checked_at = checked_at_,
          .findings = state_.findings(),
          .left_out = state_.left_out()};
}

}  // namespace heatsink::doctor
