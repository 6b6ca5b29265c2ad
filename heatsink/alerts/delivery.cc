// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/delivery.h"

#include <algorithm>
#include <utility>

namespace heatsink::alerts {

bool Delivery::waits(const std::string& identity) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& each) { return each.notice.alert.identity() == identity; });
}

void Delivery::add(Notice notice, TimePoint now) {
  const std::string identity = notice.alert.identity();
  std::erase_if(waiting_,
                [&](const Waiting& each) { return each.notice.alert.identity() == identity; });
  if (waiting() >= kWaitingMax && !waiting_.empty()) {
    waiting_.pop_front();
    ++dropped_full_;
  }
  waiting_.push_back({std::move(notice), now});
}

std::vector<Notice> Delivery::undelivered() const {
  std::vector<Notice> out;
  for (const Waiting& each : taken_) out.push_back(each.notice);
  for (const Waiting& each : waiting_) out.push_back(each.notice);
  return out;
}

std::vector<Notice> Delivery::take(TimePoint now) {
  std::vector<Notice> out;
  if (now < due_at()) return out;
  while (!waiting_.empty() && out.size() < kMessageMax) {
    out.push_back(waiting_.front().notice);
    taken_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return out;
}

void Delivery::attempted(const Outcome& outcome, TimePoint now) {
  if (outcome.kind == Outcome::Kind::kRetry) {
    pause_ = pause_ == Nanos(0) ? kPauseMin : std::min(2 * pause_, kPauseMax);
    try_at_ = now + std::max(pause_, std::min(outcome.wait_at_least, kAskedPauseMax));
    put_back(now);
  } else {
    if (outcome.kind == Outcome::Kind::kRefused) dropped_refused_ += taken_.size();
    pause_ = Nanos(0);
    try_at_ = now;
  }
  taken_.clear();
}

// A notice whose alert has a newer one by now is not needed any more.
void Delivery::put_back(TimePoint now) {
  for (std::size_t i = taken_.size(); i-- > 0;) {
    Waiting& each = taken_[i];
    if (now - each.added_at >= retry_for_) {
      ++dropped_late_;
    } else if (!waits(each.notice.alert.identity())) {
      waiting_.push_front(std::move(each));
    }
  }
}

}  // namespace heatsink::alerts
