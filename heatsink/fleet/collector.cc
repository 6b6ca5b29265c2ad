// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/collector.h"

#include <algorithm>
#include <utility>

#include "heatsink/detect/measure.h"
#include "heatsink/detect/merge.h"

namespace heatsink::fleet {
namespace {

using detect::add_capped;
using detect::capped_to_64_bits;
using detect::KeyCount;
using detect::Summary;
using detect::Wide;

}  // namespace

bool WindowSum::is_of(const Summary& window) const {
  return totals_.window == Nanos{} || totals_.measure() == window.measure();
}

void WindowSum::add(Summary window) {
  detect::add_totals(totals_, window);
  for (const KeyCount& key : window.keys)
    if (key.key_truncated) window.absent_max = std::max(window.absent_max, key.high);
  absent_max_ += window.absent_max;
  for (KeyCount& key : window.keys)
    if (!key.key_truncated) add_key(key, window.absent_max);
  if (keys_.size() > kKeysMax) cut(kKeysKept);
}

void WindowSum::add_key(KeyCount& key, std::uint64_t absent_max) {
  std::uint32_t place = places_.find(key.hash);
  if (place == detect::HashIndex::kNone) {
    place = static_cast<std::uint32_t>(keys_.size());
    places_.add(key.hash, place);
    KeySum& added = keys_.emplace_back();
    added.hash = key.hash;
    added.db = key.db;
    added.name = std::move(key.key);
  }
  KeySum& sum = keys_[place];
  add_capped(sum.low, key.low);
  add_capped(sum.reads, key.reads);
  add_capped(sum.writes, key.writes);
  sum.excess += Wide{key.high} - absent_max;
}

void WindowSum::cut(std::size_t keys_max) {
  if (keys_.size() <= keys_max) return;
  const auto high = [this](const KeySum& key) { return absent_max_ + key.excess; };
  const auto first_out = keys_.begin() + static_cast<std::ptrdiff_t>(keys_max);
  std::nth_element(keys_.begin(), first_out, keys_.end(), [&](const KeySum& a, const KeySum& b) {
    if (a.low != b.low) return a.low > b.low;
    return high(a) != high(b) ? high(a) > high(b) : a.hash.value < b.hash.value;
  });
  Wide absent_max = absent_max_;
  for (auto key = first_out; key != keys_.end(); ++key)
    absent_max = std::max(absent_max, high(*key));
  keys_.erase(first_out, keys_.end());
  for (KeySum& key : keys_) key.excess -= absent_max - absent_max_;
  absent_max_ = absent_max;
  places_.reset(kKeysMax);
  for (std::size_t i = 0; i < keys_.size(); ++i)
    places_.add(keys_[i].hash, static_cast<std::uint32_t>(i));
}

Summary WindowSum::finish(std::size_t keys_max) {
  cut(keys_max);
  Summary out = std::move(totals_);
  out.absent_max = capped_to_64_bits(absent_max_);
  out.keys.reserve(keys_.size());
  for (KeySum& key : keys_) {
    KeyCount& count = out.keys.emplace_back();
    count.hash = key.hash;
    count.db = key.db;
    count.key = std::move(key.name);
    count.low = key.low;
    count.high = capped_to_64_bits(absent_max_ + key.excess);
    count.reads = key.reads;
    count.writes = key.writes;
  }
  std::sort(out.keys.begin(), out.keys.end(), detect::is_busier);
  *this = {};
  return out;
}

void Collector::add(Message message) {
  instances_ += message.instances;
  for (detect::Summary& window : message.windows) {
    auto sum = std::find_if(sums_.begin(), sums_.end(),
                            [&](const WindowSum& each) { return each.is_of(window); });
    if (sum == sums_.end()) {
      if (sums_.size() == detect::kMeasuresMax) continue;
      sum = sums_.insert(sum, WindowSum());
    }
    sum->add(std::move(window));
  }
}

Message Collector::finish(std::size_t keys_max) {
  Message out;
  out.instances = std::exchange(instances_, 0);
  for (WindowSum& sum : std::exchange(sums_, {})) out.windows.push_back(sum.finish(keys_max));
  return out;
}

}  // namespace heatsink::fleet
