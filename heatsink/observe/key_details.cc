// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/key_details.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace heatsink::observe {

void DetailsReader::want(std::span<const Key> keys) {
  keys = keys.first(std::min(keys.size(), kKeysMax));
  std::erase_if(entries_, [keys](const auto& entry) {
    return std::ranges::find(keys, entry.first) == keys.end();
  });
  for (std::size_t i = 0; i < keys.size(); ++i) entries_[keys[i]].place = i;
}

void DetailsReader::tick(TimePoint now) {
  if (entries_.empty()) return;
  pipeline_.tick(now);
  if (pipeline_.is_hopeless()) return pipeline_.end();
  if (!pipeline_.is_up() || pipeline_.in_flight() > 0) return;  // one key at a time
  std::pair<const Key, Entry>* next = nullptr;
  for (auto& row : entries_) {
    const Entry& entry = row.second;
    const bool due = !entry.asked || now - entry.asked_at >= kFresh;
    if (due && (next == nullptr || entry.place < next->second.place)) next = &row;
  }
  if (next == nullptr) return;
  next->second.asked = true;
  next->second.asked_at = now;
  ask(next->first, now);
}

void DetailsReader::ask(const Key& key, TimePoint now) {
  const auto questions = redis::value_questions(key.first, key.second);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::vector<std::string_view> words(questions[i].begin(), questions[i].end());
    pipeline_.ask(words, now, [this, key, i](const Result<resp::Value>& reply, TimePoint) {
      take(key, i, reply);
    });
  }
}

// The old details stay visible until all answers for the key have come.
void DetailsReader::take(const Key& key, std::size_t question, const Result<resp::Value>& reply) {
  if (question == 0) present_ = {};
  answered_ = reply && (!reply->is_error() || (answered_ && question > 0));
  if (reply) redis::take_value_reply(question, *reply, present_);
  const auto entry = entries_.find(key);
  if (question + 1 < redis::kValueQuestions || entry == entries_.end()) return;
  if (answered_) entry->second.details = present_;
}

const KeyDetails* DetailsReader::find(const Key& key) const {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || !entry->second.details) return nullptr;
  return &*entry->second.details;
}

}  // namespace heatsink::observe
