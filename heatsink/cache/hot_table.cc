// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/hot_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace heatsink::cache {

// Open addressing at half load, built once and never changed: a probe is one or two lines.
struct HotTable::Index {
  struct Slot {
    std::uint64_t hash = 0;
    const Entry* entry = nullptr;
  };

  explicit Index(std::size_t entries) : slots(std::bit_ceil(entries * 2 + 2)), mask(slots.size() - 1) {}

  void put(const Entry& entry) {
    std::size_t i = entry.hash().value & mask;
    while (slots[i].entry != nullptr) i = (i + 1) & mask;
    slots[i] = {entry.hash().value, &entry};
  }

  std::vector<Slot> slots;
  std::size_t mask;
};

const char* to_string(Uncacheable why) {
  switch (why) {
    case Uncacheable::kNo: return "";
    case Uncacheable::kTooBig: return "its value is larger than cache.maximum-value-bytes";
    case Uncacheable::kWrongType: return "it is no string, or the server refused the read";
    case Uncacheable::kNoRoom: return "cache.maximum-bytes is used up by keys that earn more per byte";
    case Uncacheable::kNilQuota: return "it does not exist, and cache.maximum-nil is used up";
  }
  return "";
}

HotTable::HotTable(const HotTableLimits& limits, Epochs& epochs)
    : limits_(limits), epochs_(epochs), index_(new Index(0)) {}

HotTable::~HotTable() { delete index_.load(); }

const Entry* HotTable::find(KeyHash hash, std::string_view key, std::uint32_t db) const noexcept {
  const Index& index = *index_.load();
  for (std::size_t i = hash.value & index.mask; index.slots[i].entry != nullptr; i = (i + 1) & index.mask) {
    const Entry* entry = index.slots[i].entry;
    if (index.slots[i].hash == hash.value && entry->db() == db && entry->key() == key) return entry;
  }
  return nullptr;
}

bool HotTable::has(KeyHash hash) const noexcept {
  const Index& index = *index_.load();
  for (std::size_t i = hash.value & index.mask; index.slots[i].entry != nullptr; i = (i + 1) & index.mask) {
    if (index.slots[i].hash == hash.value) return true;
  }
  return false;
}

bool HotTable::promote(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name) {
  if (entries_.size() >= limits_.entries_max || entries_.contains(hash)) return false;
  auto entry = std::make_unique<Entry>(key, db, hash, name);
  by_name_.emplace(entry->key(), entry.get());
  entries_.emplace(hash, std::move(entry));
  return true;
}

void HotTable::demote(KeyHash hash) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return;
  Entry* entry = found->second.get();
  replace(*entry, nullptr);
  const auto [first, last] = by_name_.equal_range(entry->key());
  for (auto it = first; it != last; ++it) {
    if (it->second == entry) {
      by_name_.erase(it);
      break;
    }
  }
  unlinked_.push_back(std::move(found->second));
  entries_.erase(found);
}

void HotTable::set_rate(KeyHash hash, double rate) {
  const auto found = entries_.find(hash);
  if (found != entries_.end()) found->second->rate_ = rate;
}

void HotTable::publish() {
  auto index = std::make_unique<Index>(entries_.size());
  for (const auto& [hash, entry] : entries_) index->put(*entry);
  epochs_.retire(index_.exchange(index.release()));
  for (std::unique_ptr<Entry>& entry : unlinked_) epochs_.retire(entry.release());
  unlinked_.clear();
}

bool HotTable::insert(KeyHash hash, std::unique_ptr<const Copy> copy) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return false;
  Entry& entry = *found->second;
  const TimePoint now = copy->fill_sent_at;
  replace(entry, nullptr);
  if (copy->reply.size() > limits_.value_bytes_max.count + 32) {  // 32: the reply's own framing
    mark(hash, Uncacheable::kTooBig, now);
    return false;
  }
  if (copy->nil && nils_ >= limits_.nil_max) {
    mark(hash, Uncacheable::kNilQuota, now);
    return false;
  }
  if (!make_room(entry, cost(entry, *copy))) {
    mark(hash, Uncacheable::kNoRoom, now);
    return false;
  }
  entry.uncacheable_.store(Uncacheable::kNo, std::memory_order_relaxed);
  replace(entry, copy.release());
  return true;
}

void HotTable::mark(KeyHash hash, Uncacheable why, TimePoint now) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return;
  replace(*found->second, nullptr);
  found->second->uncacheable_.store(why, std::memory_order_relaxed);
  found->second->retry_at_ = now + limits_.retry_after;
}

void HotTable::drop_name(std::string_view name) {
  const auto [first, last] = by_name_.equal_range(name);
  for (auto it = first; it != last; ++it) {
    replace(*it->second, nullptr);
    it->second->uncacheable_.store(Uncacheable::kNo, std::memory_order_relaxed);
  }
}

void HotTable::drop_all() {
  for (const auto& [hash, entry] : entries_) replace(*entry, nullptr);
}

void HotTable::retry(TimePoint now) {
  for (const auto& [hash, entry] : entries_) {
    if (entry->uncacheable() != Uncacheable::kNo && now >= entry->retry_at_) {
      entry->uncacheable_.store(Uncacheable::kNo, std::memory_order_relaxed);
    }
  }
}

const Entry* HotTable::entry(KeyHash hash) const {
  const auto found = entries_.find(hash);
  return found == entries_.end() ? nullptr : found->second.get();
}

void HotTable::replace(Entry& entry, const Copy* copy) {
  if (copy != nullptr) {
    bytes_ += cost(entry, *copy);
    nils_ += copy->nil ? 1 : 0;
    ++copies_;
  }
  const Copy* old = entry.copy_.exchange(copy);
  if (old == nullptr) return;
  bytes_ -= cost(entry, *old);
  nils_ -= old->nil ? 1 : 0;
  --copies_;
  epochs_.retire(old);
}

// The copies that take the fewest requests per byte go first, and only for one that takes more.
bool HotTable::make_room(const Entry& wanted, std::size_t bytes) {
  if (bytes > limits_.bytes_max.count) return false;
  const double worth = wanted.rate_ / static_cast<double>(bytes);
  while (bytes_ + bytes > limits_.bytes_max.count) {
    Entry* least = nullptr;
    double least_worth = worth;
    for (const auto& [hash, entry] : entries_) {
      const Copy* copy = entry->copy();
      if (copy == nullptr) continue;
      const double its_worth = entry->rate_ / static_cast<double>(cost(*entry, *copy));
      if (its_worth < least_worth) {
        least = entry.get();
        least_worth = its_worth;
      }
    }
    if (least == nullptr) return false;
    replace(*least, nullptr);
  }
  return true;
}

std::size_t HotTable::cost(const Entry& entry, const Copy& copy) {
  return sizeof(Entry) + sizeof(Copy) + entry.key().size() + copy.reply.size();
}

}  // namespace heatsink::cache
