// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heatsink/detect/detect.h"

namespace heatsink::app {

KeyId id_of(const KeyView& key) { return {key.raw_name, key.db, key.dimension}; }

KeyId template_of(const KeyView& key) {
  return {detect::key_template(key.raw_name), key.db, key.dimension};
}

void KeyHistories::add(const std::vector<KeyView>& keys) {
  add_silence();
  std::vector<const KeyView*> unknown;
  for (const KeyView& key : keys) {
    const auto found = histories_.find(id_of(key));
    if (found != histories_.end())
      note(found->second, key);
    else if (unknown.size() < kKeysMax)
      unknown.push_back(&key);
  }
  make_room(unknown.size());
  for (const KeyView* key : unknown) {
    if (histories_.size() >= kKeysMax) return;
    note(histories_.emplace(id_of(*key), History{{0.0F}, template_of(*key), 0}).first->second,
         *key);
  }
}

void KeyHistories::add_silence() {
  for (auto& [id, history] : histories_) {
    if (history.rates.size() == kPointsMax) history.rates.erase(history.rates.begin());
    history.rates.push_back(0);
    ++history.silent;
  }
  std::erase_if(histories_, [](const auto& each) { return each.second.silent >= kPointsMax; });
}

void KeyHistories::note(History& history, const KeyView& key) {
  history.rates.back() = std::isnan(key.rate) ? 0.0F : static_cast<float>(key.rate);
  history.silent = 0;
}

// Drops the keys that were not listed for longest, but none that this answer lists.
void KeyHistories::make_room(std::size_t wanted) {
  if (histories_.size() + wanted <= kKeysMax) return;
  std::vector<std::pair<std::size_t, KeyId>> silent;
  for (const auto& [id, history] : histories_)
    if (history.silent > 0) silent.emplace_back(history.silent, id);
  std::ranges::sort(silent, std::ranges::greater{});
  const std::size_t leaving = std::min(silent.size(), histories_.size() + wanted - kKeysMax);
  for (std::size_t i = 0; i < leaving; ++i) histories_.erase(silent[i].second);
}

std::vector<double> KeyHistories::of(const KeyId& key) const {
  const auto found = histories_.find(key);
  if (found == histories_.end()) return {};
  return {found->second.rates.begin(), found->second.rates.end()};
}

std::vector<double> KeyHistories::of_template(const KeyId& pattern) const {
  std::vector<double> sums;
  for (const auto& [id, history] : histories_) {
    if (history.pattern != pattern) continue;
    const std::size_t points = history.rates.size();
    if (points > sums.size()) sums.insert(sums.begin(), points - sums.size(), 0.0);
    for (std::size_t i = 0; i < points; ++i)
      sums[sums.size() - points + i] += static_cast<double>(history.rates[i]);
  }
  return sums;
}

}  // namespace heatsink::app
