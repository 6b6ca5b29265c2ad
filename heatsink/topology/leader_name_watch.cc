// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/leader_name_watch.h"

#include <algorithm>
#include <utility>

#include "heatsink/topology/leader_watch.h"

namespace heatsink::topology {

NameWatch::NameWatch(net::EventLoop& loop, LeaderWatchOptions options, Listener& listener)
    : loop_(loop),
      options_(std::move(options)),
      listener_(listener),
      resolver_(loop),
      in_use_(options_.resolved) {}

NameWatch::~NameWatch() { loop_.cancel(timer_); }

void NameWatch::begin() {
  look();
  timer_ = loop_.call_every(kInterval, [this] { look(); });
}

void NameWatch::doubt() {
  const TimePoint now = loop_.clock();
  if (renewed_at_ != TimePoint::min() && now - renewed_at_ < kDoubtPause) return;
  renewed_at_ = now;
  is_doubted_ = true;
  look();
}

void NameWatch::look() {
  if (std::exchange(is_looking_, true)) return;
  resolver_.resolve(options_.url.address, [this](const Result<LeaderResolver::Addresses>& answer) {
    is_looking_ = false;
    found(answer);
  });
}

// Name servers rotate their answers, so the address in use stays the first one. Without an answer
// nothing is known, and the server in use stays.
void NameWatch::found(const Result<LeaderResolver::Addresses>& answer) {
  const bool is_doubted = std::exchange(is_doubted_, false);
  if (!answer.ok() || answer->empty()) return;
  LeaderResolver::Addresses addresses = *answer;
  const auto used = std::find_if(addresses.begin(), addresses.end(), [this](const auto& each) {
    return !in_use_.empty() && same_address(each, in_use_.front());
  });
  if (used != addresses.end() && !is_doubted) {
    std::rotate(addresses.begin(), used, used + 1);
    in_use_ = std::move(addresses);
    return;
  }
  in_use_ = std::move(addresses);
  LeaderVerdict verdict;
  verdict.leader = options_.url.address;
  verdict.confirmed_at = TimePoint::max();
  // The name is the same, but the connections lead to the address before.
  constexpr bool kRenews = true;
  listener_.leader_changed(verdict, in_use_, kRenews);
  listener_.leader_confirmed(verdict.confirmed_at);
}

}  // namespace heatsink::topology
