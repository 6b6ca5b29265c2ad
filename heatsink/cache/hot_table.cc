// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/hot_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace heatsink::cache {

// Open addressing at half load, immutable once built: a probe reads one or two cache lines.
struct HotTable::Index {
  struct Slot {
    std::uint64_t hash = 0;
    const Entry* entry = nullptr;
  };

  explicit Index(std::size_t entries)
      : slots(std::bit_ceil(entries * 2 + 2)), mask(slots.size() - 1), empty(entries == 0) {}

  void put(const Entry& entry) {
    std::size_t i = entry.hash().value & mask;
    while (slots[i].entry != nullptr) i = (i + 1) & mask;
    slots[i] = {entry.hash().value, &entry};
  }

  std::vector<Slot> slots;
  std::size_t mask;
  bool empty;
};

std::size_t bulk_reply_size(Bytes value) {
  return 1 + std::to_string(value.count).size() + 2 + value.count + 2;
}

const char* to_string(Uncacheable why) {
  switch (why) {
    case Uncacheable::kNo:
      return "";
    case Uncacheable::kTooBig:
      return "its value is larger than cache.maximum-value-bytes";
    case Uncacheable::kWrongType:
      return "the server refused the last read of it (wrong type?)";
    case Uncacheable::kNoRoom:
      return "cache.maximum-bytes is used up by keys that save more load";
    case Uncacheable::kNilQuota:
      return "the key does not exist, and cache.maximum-nil is used up";
    case Uncacheable::kNoDatabase:
      return "the server does not let the proxy select its database (SELECT)";
    case Uncacheable::kTableFull:
      return "the server already tracks cache.maximum-tracked-keys keys for the proxy";
  }
  return "";
}

Entry::~Entry() {
  for (const std::atomic<const Copy*>& slot : copies_) delete slot.load();
}

HotTable::HotTable(const HotTableLimits& limits, Epochs& epochs)
    : limits_(limits), epochs_(epochs), index_(new Index(0)) {}

HotTable::~HotTable() { delete index_.load(); }

const Entry* HotTable::find(KeyHash hash, std::string_view key, std::uint32_t db) const noexcept {
  const Index& index = *index_.load();
  for (std::size_t i = hash.value & index.mask; index.slots[i].entry != nullptr;
       i = (i + 1) & index.mask) {
    const Entry* entry = index.slots[i].entry;
    if (index.slots[i].hash == hash.value && entry->db() == db && entry->key() == key) return entry;
  }
  return nullptr;
}

bool HotTable::none() const noexcept { return index_.load()->empty; }

bool HotTable::has(KeyHash hash) const noexcept {
  const Index& index = *index_.load();
  for (std::size_t i = hash.value & index.mask; index.slots[i].entry != nullptr;
       i = (i + 1) & index.mask) {
    if (index.slots[i].hash == hash.value) return true;
  }
  return false;
}

bool HotTable::promote(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
                       const ConsistencyPolicy& consistency) {
  assert(consistency.level != Level::kOff);
  if (entries_.size() >= limits_.entries_max || entries_.contains(hash)) return false;
  auto entry = std::make_unique<Entry>(key, db, hash, name, consistency);
  by_name_.emplace(entry->key(), entry.get());
  entries_.emplace(hash, std::move(entry));
  return true;
}

void HotTable::demote(KeyHash hash) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return;
  Entry* entry = found->second.get();
  drop(*entry);
  unpin(hash);
  const auto [first, last] = by_name_.equal_range(entry->key());
  for (auto it = first; it != last; ++it) {
    if (it->second == entry) {
      by_name_.erase(it);
      break;
    }
  }
  // Readers still find the entry in the published index. publish() retires it.
  unlinked_.push_back(std::move(found->second));
  entries_.erase(found);
}

bool HotTable::pin(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
                   const ConsistencyPolicy& consistency) {
  const auto found = entries_.find(hash);
  const bool is_there = found != entries_.end();
  if (is_there && (found->second->key() != key || found->second->db() != db)) return false;
  if (is_there && found->second->pinned_) return true;
  if (pins_ >= limits_.pins_max) return false;
  if (!is_there && entries_.size() >= limits_.entries_max && !demote_coldest()) return false;
  if (!is_there) promote(key, db, hash, name, consistency);
  entries_.at(hash)->pinned_ = true;
  ++pins_;
  return true;
}

void HotTable::unpin(KeyHash hash) {
  const auto found = entries_.find(hash);
  if (found != entries_.end() && std::exchange(found->second->pinned_, false)) --pins_;
}

bool HotTable::demote_coldest() {
  const Entry* coldest = nullptr;
  for (const auto& [hash, entry] : entries_) {
    if (!entry->pinned_ && (coldest == nullptr || entry->rate_ < coldest->rate_))
      coldest = entry.get();
  }
  if (coldest == nullptr) return false;
  demote(coldest->hash());
  return true;
}

void HotTable::set_rate(KeyHash hash, double rate) {
  const auto found = entries_.find(hash);
  if (found != entries_.end()) found->second->rate_ = rate;
}

void HotTable::publish() {
  auto index = std::make_unique<Index>(entries_.size());
  for (const auto& [hash, entry] : entries_) index->put(*entry);
  // The exchange unlinks the old index and the demoted entries. Only then may they be retired.
  epochs_.retire(index_.exchange(index.release()));
  for (std::unique_ptr<Entry>& entry : unlinked_) epochs_.retire(entry.release());
  unlinked_.clear();
}

bool HotTable::insert(KeyHash hash, std::unique_ptr<const Copy> copy) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return false;
  Entry& entry = *found->second;
  CopySlot& slot = slot_for(entry, *copy);
  const Copy* old = slot.load();
  const Uncacheable refused = admit(entry, *copy, old);
  if (refused != Uncacheable::kNo) {
    // A copy of the same read is older than the refused one, so it goes, too.
    if (old != nullptr && old->read == copy->read) replace(entry, slot, nullptr);
    set_mark(entry, refused, copy->fill_sent_at);
    return false;
  }
  entry.uncacheable_.store(Uncacheable::kNo, std::memory_order_relaxed);
  replace(entry, slot, copy.release());
  return true;
}

void HotTable::note_shown(KeyHash hash, TimePoint fill_sent_at) {
  shown_.store(fill_sent_at.time_since_epoch().count());
  const auto found = entries_.find(hash);
  if (found != entries_.end()) found->second->shown_.store(fill_sent_at.time_since_epoch().count());
}

void HotTable::mark(KeyHash hash, Uncacheable why, TimePoint now) {
  const auto found = entries_.find(hash);
  if (found != entries_.end()) mark(*found->second, why, now);
}

void HotTable::mark(Entry& entry, Uncacheable why, TimePoint now) {
  if (concerns_whole_key(why)) drop(entry);
  set_mark(entry, why, now);
}

void HotTable::set_mark(Entry& entry, Uncacheable why, TimePoint now) const {
  entry.uncacheable_.store(why, std::memory_order_relaxed);
  entry.retry_at_ = now + limits_.retry_after;
}

TimePoint HotTable::drop_name(std::string_view name) {
  const auto [first, last] = by_name_.equal_range(name);
  TimePoint latest{};
  for (auto it = first; it != last; ++it) {
    if (it->second->consistency().keeps_unproven) {
      latest = std::max(latest, it->second->shown());
    } else {
      drop(*it->second);
    }
  }
  return latest;
}

void HotTable::drop_all() {
  for (const auto& [hash, entry] : entries_) drop(*entry);
}

template <class Which>
void HotTable::drop_if(Which which) {
  for (const auto& [hash, entry] : entries_) {
    if (which(entry->consistency())) drop(*entry);
  }
}

void HotTable::drop_proof_dependent() {
  drop_if([](const ConsistencyPolicy& consistency) {
    return consistency.level != Level::kTtl && !consistency.keeps_unproven;
  });
}

void HotTable::drop_proof_independent() {
  drop_if([](const ConsistencyPolicy& consistency) {
    return consistency.level == Level::kTtl || consistency.keeps_unproven;
  });
}

void HotTable::drop_for_outage() {
  drop_if([](const ConsistencyPolicy& consistency) {
    return consistency.level != Level::kTtl && !consistency.keeps_unproven &&
           consistency.stale_while_error == Nanos(0);
  });
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

const Copy* HotTable::copy(KeyHash hash, const StoredRead& read) const {
  const Entry* entry = this->entry(hash);
  if (entry == nullptr) return nullptr;
  for (const CopySlot& slot : entry->copies_) {
    const Copy* copy = slot.load(std::memory_order_relaxed);
    if (copy != nullptr && copy->read == read) return copy;
  }
  return nullptr;
}

bool HotTable::has_copy(KeyHash hash) const {
  const Entry* found = entry(hash);
  return found != nullptr && found->bytes_ > 0;
}

std::optional<Bytes> HotTable::reply_size(KeyHash hash) const {
  const Entry* entry = this->entry(hash);
  if (entry == nullptr) return std::nullopt;
  std::optional<Bytes> longest;
  for (const CopySlot& slot : entry->copies_) {
    const Copy* copy = slot.load(std::memory_order_relaxed);
    if (copy != nullptr) longest = std::max(longest.value_or(Bytes{0}), Bytes{copy->reply.size()});
  }
  return longest;
}

// The slot of the same read; else an empty one; else the one with the oldest fill. The oldest is
// the cheapest to lose: a read in steady use is filled again soon.
HotTable::CopySlot& HotTable::slot_for(Entry& entry, const Copy& copy) {
  CopySlot* empty = nullptr;
  CopySlot* oldest = entry.copies_.data();
  for (CopySlot& slot : entry.copies_) {
    const Copy* there = slot.load();
    if (there == nullptr) {
      if (empty == nullptr) empty = &slot;
      continue;
    }
    if (there->read == copy.read) return slot;
    const Copy* first = oldest->load();
    if (first == nullptr || there->fill_sent_at < first->fill_sent_at) oldest = &slot;
  }
  return empty != nullptr ? *empty : *oldest;
}

void HotTable::drop(Entry& entry) {
  if (entry.bytes_ == 0) return;
  for (CopySlot& slot : entry.copies_) {
    if (slot.load() != nullptr) replace(entry, slot, nullptr);
  }
}

void HotTable::replace(Entry& entry, CopySlot& slot, const Copy* copy) {
  if (copy != nullptr) {
    bytes_ += cost(entry, *copy);
    entry.bytes_ += cost(entry, *copy);
    nils_ += copy->nil ? 1 : 0;
    ++copies_;
  }
  const Copy* old = slot.exchange(copy);
  if (old == nullptr) return;
  bytes_ -= cost(entry, *old);
  entry.bytes_ -= cost(entry, *old);
  nils_ -= old->nil ? 1 : 0;
  --copies_;
  epochs_.retire(old, cost(entry, *old));
}

Uncacheable HotTable::admit(const Entry& entry, const Copy& copy, const Copy* old) {
  if (std::max(copy.reply.size(), copy.resp2.size()) > bulk_reply_size(limits_.value_bytes_max))
    return Uncacheable::kTooBig;
  const std::size_t other_nils = nils_ - (old != nullptr && old->nil ? 1 : 0);
  if (copy.nil && other_nils >= limits_.nil_max) return Uncacheable::kNilQuota;
  if (entry.pinned_ && !pins_have_room(entry, copy, old)) return Uncacheable::kNoRoom;
  return may_retire(cost(entry, copy)) && make_room(entry, copy, old) ? Uncacheable::kNo
                                                                      : Uncacheable::kNoRoom;
}

bool HotTable::pins_have_room(const Entry& wanted, const Copy& copy, const Copy* old) const {
  std::uint64_t pinned = cost(wanted, copy);
  for (const auto& [hash, entry] : entries_) {
    if (entry->pinned_) pinned += entry->bytes_;
  }
  return pinned - (old != nullptr ? cost(wanted, *old) : 0) <= limits_.pinned_bytes_max.count;
}

// A worker that stays long in one turn delays reclamation. Replaced copies still occupy memory, and
// every inserted copy is replaced one day. So nothing is inserted beyond the limit.
bool HotTable::may_retire(std::size_t bytes) {
  if (epochs_.retired_bytes() + bytes > limits_.bytes_max.count) epochs_.collect();
  return epochs_.retired_bytes() + bytes <= limits_.bytes_max.count;
}

struct HotTable::Victim {
  double worth;  // accesses per second and byte
  Entry* entry;
  std::size_t bytes;

  // Orders a heap with the least worth on top; the hash breaks ties deterministically.
  friend bool operator<(const Victim& a, const Victim& b) {
    if (a.worth != b.worth) return a.worth > b.worth;
    return a.entry->hash().value > b.entry->hash().value;
  }
};

// A heap of the keys whose copies earn less than `worth`, the least worthy on top.
std::vector<HotTable::Victim> HotTable::worth_less(const Entry& wanted, double worth) const {
  std::vector<Victim> heap;
  for (const auto& [hash, entry] : entries_) {
    if (entry->bytes_ == 0 || entry->pinned_ || entry.get() == &wanted) continue;
    const double its_worth = entry->rate_ / static_cast<double>(entry->bytes_);
    if (its_worth < worth || wanted.pinned_)
      heap.push_back({its_worth, entry.get(), entry->bytes_});
  }
  std::make_heap(heap.begin(), heap.end());
  return heap;
}

// Evicts the copies that earn least per byte: all that is needed or none, and only if they earn
// less than the new copy (a small copy may need the room of a much larger one). One scan and a
// heap, because a scan per victim would be O(entries^2)
// (docs/decisions/0003-eviction-by-rate-per-byte.md).
bool HotTable::make_room(const Entry& wanted, const Copy& copy, const Copy* old) {
  const std::size_t bytes = cost(wanted, copy);
  const std::size_t replaced = old != nullptr ? cost(wanted, *old) : 0;
  const std::uint64_t others = bytes_ - replaced;
  if (others + bytes <= limits_.bytes_max.count) return true;

  const std::uint64_t needed = others + bytes - limits_.bytes_max.count;
  std::vector<Victim> heap =
      worth_less(wanted, wanted.rate_ / static_cast<double>(wanted.bytes_ - replaced + bytes));
  std::uint64_t freed = 0;
  double lost_rate = 0;
  auto chosen = heap.end();  // pop_heap() moves the victims behind the heap
  while (freed < needed && chosen != heap.begin()) {
    std::pop_heap(heap.begin(), chosen--);
    freed += chosen->bytes;
    lost_rate += chosen->entry->rate_;
  }
  if (freed < needed || (lost_rate >= wanted.rate_ && !wanted.pinned_)) return false;
  // The mark keeps an evicted key from being filled again at once and evicting others in turn.
  for (; chosen != heap.end(); ++chosen) {
    mark(*chosen->entry, Uncacheable::kNoRoom, copy.fill_sent_at);
  }
  return true;
}

std::size_t HotTable::cost(const Entry& entry, const Copy& copy) {
  return sizeof(Entry) + sizeof(Copy) + entry.key().size() + copy.read.bytes() + copy.reply.size() +
         copy.resp2.size();
}

}  // namespace heatsink::cache
