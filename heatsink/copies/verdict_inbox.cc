// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/verdict_inbox.h"

#include <utility>

namespace heatsink::copies {

VerdictInbox::VerdictInbox(std::size_t workers) {
  slots_.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) slots_.push_back(std::make_unique<Slot>());
}

// Behind a gap only a list is of use.
bool VerdictInbox::put(std::size_t worker, News news) {
  Slot& slot = *slots_[worker];
  const std::lock_guard lock(slot.mutex);
  Content& content = slot.content;
  const std::size_t more = news->wires.size();
  if (slot.messages + more > kWaitingMax) {
    content.has_gap = true;
    for (const News& each : content.news) content.lost_list |= each->is_list;
    content.news.clear();
    slot.messages = 0;
  }
  const bool is_of_use = news->is_list || !content.has_gap || !content.news.empty();
  if (is_of_use) {
    content.news.push_back(std::move(news));
    slot.messages += more;
  }
  return !std::exchange(slot.is_told, true);
}

VerdictInbox::Content VerdictInbox::take(std::size_t worker) {
  Slot& slot = *slots_[worker];
  const std::lock_guard lock(slot.mutex);
  slot.is_told = false;
  slot.messages = 0;
  return std::exchange(slot.content, {});
}

}  // namespace heatsink::copies
