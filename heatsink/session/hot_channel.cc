// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/hot_channel.h"

#include <utility>

namespace heatsink::proxy {

std::uint64_t HotChannel::join(Subscriber& subscriber) {
  subscribers_.emplace(++numbers_, Entry{&subscriber});
  subscribers_of_all_.fetch_add(1, std::memory_order_relaxed);
  ask();
  return numbers_;
}

void HotChannel::leave(std::uint64_t number) {
  if (subscribers_.erase(number) == 0) return;
  subscribers_of_all_.fetch_sub(1, std::memory_order_relaxed);
  if (!subscribers_.empty()) return;
  forget_news();
  end_if_idle();
}

void HotChannel::forget_news() {
  news_.clear();
  delivered_to_ = 0;
}

// Not while a list is on its way: the next subscriber would take it for one of now, and miss the
// changes that the keeper has kept to itself in between.
void HotChannel::end_if_idle() {
  if (subscribers_.empty() && !is_asked_ && std::exchange(is_heard_, false)) source_.end_verdicts();
}

void HotChannel::renew(std::uint64_t number) {
  const auto found = subscribers_.find(number);
  if (found == subscribers_.end()) return;
  found->second.has_list = false;
  ask();
}

void HotChannel::ask() {
  if (std::exchange(is_asked_, true)) return;
  is_heard_ = true;
  source_.ask_verdicts();
}

// Behind a gap no subscriber knows what is hot now.
void HotChannel::take_news() {
  copies::VerdictInbox::Content content = source_.take_verdicts();
  if (content.has_gap)
    for (auto& [number, entry] : subscribers_) entry.has_list = false;
  if (content.lost_list) is_asked_ = false;
  for (copies::VerdictInbox::News& each : content.news) {
    if (each->is_list) is_asked_ = false;
    news_.push_back(std::move(each));
  }
}

// False: all have all news. A subscriber without a list gets the next one: it has joined, or has
// subscribed again, after the last one had passed it, or there was a gap.
bool HotChannel::next_news() {
  if (news_.empty()) take_news();
  if (!news_.empty()) return true;
  for (const auto& [number, entry] : subscribers_) {
    if (entry.has_list) continue;
    ask();
    break;
  }
  return false;
}

void HotChannel::deliver() {
  is_later_ = false;
  std::size_t subscribers = 0;
  std::size_t bytes = 0;
  while (!subscribers_.empty() && next_news()) {
    if (subscribers >= kPerTurn || bytes >= kBytesPerTurn) {
      if (!std::exchange(is_later_, true)) source_.deliver_verdicts_later();
      return;
    }
    const auto next = subscribers_.upper_bound(delivered_to_);
    if (next == subscribers_.end()) {
      news_.pop_front();
      delivered_to_ = 0;
      continue;
    }
    delivered_to_ = next->first;
    Entry& entry = next->second;
    const copies::VerdictInbox::News news = news_.front();
    ++subscribers;
    if (entry.has_list == news->is_list) continue;
    entry.has_list = true;
    for (const std::string& wire : news->wires) bytes += wire.size();
    counters_.add(copies::Count::kVerdictMessages, news->wires.size());
    entry.subscriber->hear(news->wires);  // it may leave: `entry` is gone then
  }
  if (!subscribers_.empty()) return;
  take_news();
  forget_news();
  end_if_idle();
}

}  // namespace heatsink::proxy
