// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/hot_table.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heatsink::cache {
namespace {

// The table's time may lag by the interval of retry(), and the server's TTL by its clock.
constexpr Nanos kExpiryReportedWithin = Millis(250);

}  // namespace

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
      return "cache.maximum-bytes is used up by keys that were read more recently";
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
    : limits_(limits), epochs_(epochs), index_(epochs), databases_(epochs) {}

HotTable::~HotTable() {
  for_each_entry([](const Entry& entry) { delete &entry; });
}

// Where nothing is worth a copy, no look-up reads the index. size_ counts a key before the index
// has it, and until it has left; like the index it is seq_cst.
const Entry* HotTable::find(KeyHash hash, std::string_view key, std::uint32_t db) const noexcept {
  if (none()) return nullptr;
  return index_.find(hash,
                     [&](const Entry& entry) { return entry.db() == db && entry.key() == key; });
}

bool HotTable::has(KeyHash hash) const noexcept { return !none() && find_entry(hash) != nullptr; }

Entry* HotTable::find_entry(KeyHash hash) const {
  return index_.find(hash, [&](const Entry& entry) { return entry.hash() == hash; });
}

bool HotTable::promote(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
                       TimePoint now, const ConsistencyPolicy& consistency) {
  if (!has_room() || has(hash)) return false;
  set_stays(add(key, db, name, now, consistency), true);
  return true;
}

bool HotTable::admit(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
                     TimePoint now, const ConsistencyPolicy& consistency) {
  if (has(hash) || !make_room_for_entry(false)) return false;
  add(key, db, name, now, consistency);
  return true;
}

// Readers see the entry when it is in the index, so that comes last. size_ comes before: a worker
// that finds no hot key at all waits for no invalidation.
Entry& HotTable::add(std::string_view key, std::uint32_t db, NameHash name, TimePoint now,
                     const ConsistencyPolicy& consistency) {
  assert(consistency.level != Level::kOff);
  auto* const entry = new Entry(key, db, name, consistency, std::max(now, last_sent_at_));
  entry->hot_since_ = latest_;
  names_.add(*entry);
  queue_.add(*entry);
  size_.fetch_add(1);
  databases_.add(db);
  index_.add(*entry);
  return *entry;
}

bool HotTable::hold(KeyHash hash) {
  Entry* const entry = find_entry(hash);
  if (entry != nullptr) set_stays(*entry, true);
  return entry != nullptr;
}

void HotTable::release(KeyHash hash) {
  Entry* const entry = find_entry(hash);
  if (entry != nullptr && !entry->retained()) set_stays(*entry, false);
}

void HotTable::set_stays(Entry& entry, bool stays) {
  entry.set(Entry::kStays, stays);
  if (stays) {
    held_.insert(entry.hash().value);
  } else {
    held_.erase(entry.hash().value);
  }
}

void HotTable::demote(KeyHash hash) {
  if (Entry* const entry = find_entry(hash)) demote(*entry);
}

void HotTable::demote(Entry& entry) {
  drop(entry);
  if (entry.stays()) set_stays(entry, false);
  (entry.retained() ? retained_ : queue_).remove(entry);
  names_.remove(entry);
  index_.remove(entry);
  databases_.remove(entry.db());
  size_.fetch_sub(1);
  epochs_.retire(&entry, sizeof(Entry) + entry.key().size());
}

bool HotTable::retain(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
                      TimePoint now, const ConsistencyPolicy& consistency) {
  Entry* entry = find_entry(hash);
  if (entry != nullptr && (entry->key() != key || entry->db() != db)) return false;
  if (entry != nullptr && entry->retained()) return true;
  if (!may_retain()) return false;
  if (entry == nullptr && !make_room_for_entry(true)) return false;
  if (entry == nullptr) entry = &add(key, db, name, now, consistency);
  queue_.remove(*entry);
  retained_.add(*entry);
  entry->set(Entry::kRetained, true);
  set_stays(*entry, true);
  retained_bytes_ += entry->bytes_;
  return true;
}

void HotTable::stop_retaining(KeyHash hash) {
  Entry* const entry = find_entry(hash);
  if (entry == nullptr || !entry->retained()) return;
  retained_.remove(*entry);
  queue_.add(*entry);
  entry->set(Entry::kRetained, false);
  retained_bytes_ -= entry->bytes_;
}

// `of_any`: if all keys stay, one of them leaves.
bool HotTable::make_room_for_entry(bool of_any) {
  if (has_room()) return true;
  Entry* victim = nullptr;
  if (held_.size() < size())
    victim = queue_.next([](const Entry& entry) { return !entry.stays(); });
  if (victim == nullptr && of_any) victim = queue_.next([](const Entry&) { return true; });
  if (victim == nullptr) return false;
  evict(*victim, EvictionReason::kEntries);
  return true;
}

void HotTable::evict(Entry& entry, EvictionReason reason) {
  Evictions& evictions = evictions_[static_cast<std::size_t>(reason)];
  ++evictions.count;
  evictions.last_age = latest_ - entry.hot_since_;
  evictions.age_sum += evictions.last_age;
  if (reason == EvictionReason::kBytes && entry.stays()) {
    // The mark keeps it from being filled again at once and evicting others in turn.
    mark(entry, Uncacheable::kNoRoom, latest_);
  } else {
    demote(entry);
  }
}

bool HotTable::insert(KeyHash hash, std::unique_ptr<const Copy> copy) {
  Entry* const found = find_entry(hash);
  if (found == nullptr) return false;
  Entry& entry = *found;
  note_time(copy->fill_sent_at);
  CopySlot& slot = slot_for(entry, *copy);
  const Copy* old = slot.load();
  const Uncacheable refused = admit_copy(entry, *copy, old);
  if (refused != Uncacheable::kNo) {
    // A copy of the same read is older than the refused one, so it goes, too.
    if (old != nullptr && old->read == copy->read) replace(entry, slot, nullptr);
    set_mark(entry, refused, copy->fill_sent_at);
    return false;
  }
  entry.uncacheable_.store(Uncacheable::kNo, std::memory_order_relaxed);
  if (entry.proof() != copy->proof) {
    drop(entry);  // the others came from another server, which has no say any more
    entry.proof_.store(copy->proof, std::memory_order_release);
  }
  replace(entry, slot, copy.release());
  return true;
}

void HotTable::note_shown(KeyHash hash, TimePoint fill_sent_at) {
  shown_.store(fill_sent_at.time_since_epoch().count());
  if (Entry* const entry = find_entry(hash))
    entry->shown_.store(fill_sent_at.time_since_epoch().count());
}

void HotTable::mark(KeyHash hash, Uncacheable why, TimePoint now) {
  if (Entry* const entry = find_entry(hash)) mark(*entry, why, now);
}

void HotTable::mark(Entry& entry, Uncacheable why, TimePoint now) {
  if (concerns_whole_key(why)) drop(entry);
  set_mark(entry, why, now);
}

void HotTable::set_mark(Entry& entry, Uncacheable why, TimePoint now) {
  entry.uncacheable_.store(why, std::memory_order_relaxed);
  entry.retry_at_ = now + limits_.retry_after;
  if (entry.marked()) return;
  entry.set(Entry::kMarked, true);
  marked_.push_back(entry.hash());
}

void HotTable::drop_name(std::string_view name, NameHash hash) {
  leaving_.clear();  // not removed at once: for_each() walks along their links
  names_.for_each(name, hash, [&](Entry& entry) {
    if (entry.consistency().keeps_unproven) {
      entry.raise_fence(entry.shown());
    } else if (entry.stays() || is_worth_another(entry)) {
      drop(entry);
    } else {
      leaving_.push_back(&entry);
    }
  });
  for (Entry* const entry : leaving_) demote(*entry);
  left_early_ += leaving_.size();
}

bool HotTable::is_worth_another(const Entry& entry) const {
  std::uint32_t copies = 0;
  std::uint32_t reads = 0;
  bool has_expired = false;
  entry.for_each_copy([&](const Copy& copy) {
    ++copies;
    reads += copy.reads.load(std::memory_order_relaxed);
    has_expired = has_expired || copy.value_ends <= latest_ + kExpiryReportedWithin;
  });
  return copies > 0 && (has_expired || reads >= reads_to_pay_ * copies);
}

void HotTable::drop_all(ProofIndex proof) {
  drop_keys_if([proof](const Entry& entry) { return entry.proof() == proof; });
}

template <class Which>
void HotTable::drop_if(ProofIndex proof, Which which) {
  drop_keys_if(
      [&](const Entry& entry) { return entry.proof() == proof && which(entry.consistency()); });
}

void HotTable::drop_proof_dependent(ProofIndex proof) {
  drop_if(proof, [](const ConsistencyPolicy& consistency) {
    return consistency.level != Level::kTtl && !consistency.keeps_unproven;
  });
}

void HotTable::drop_proof_independent(ProofIndex proof) {
  drop_if(proof, [](const ConsistencyPolicy& consistency) {
    return consistency.level == Level::kTtl || consistency.keeps_unproven;
  });
}

void HotTable::drop_for_outage(ProofIndex proof) {
  drop_if(proof, [](const ConsistencyPolicy& consistency) {
    return consistency.level != Level::kTtl && !consistency.keeps_unproven &&
           consistency.stale_while_error == Nanos(0);
  });
}

void HotTable::retry(TimePoint now) {
  note_time(now);
  std::erase_if(marked_, [&](KeyHash hash) {
    Entry* const entry = find_entry(hash);
    if (entry == nullptr || !entry->marked()) return true;
    if (entry->uncacheable() != Uncacheable::kNo && now < entry->retry_at_) return false;
    entry->uncacheable_.store(Uncacheable::kNo, std::memory_order_relaxed);
    entry->set(Entry::kMarked, false);
    return true;
  });
}

void HotTable::drop_unfilled(TimePoint since, std::size_t count) {
  queue_.sweep(count, [&](Entry& entry) {
    if (!entry.stays() && std::max(entry.shown(), entry.hot_since_) < since) demote(entry);
  });
}

void HotTable::set_limits(const HotTableLimits& limits) {
  limits_ = limits;
  drop_copies_if([this](const Copy& copy) {
    return std::max(copy.reply.size(), copy.resp2.size()) >
           bulk_reply_size(limits_.value_bytes_max);
  });
  while (size() > limits_.entries_max) {
    Entry* victim = queue_.next([](const Entry& entry) { return !entry.stays(); });
    if (victim == nullptr) victim = queue_.next([](const Entry&) { return true; });
    if (victim == nullptr) break;
    evict(*victim, EvictionReason::kEntries);
  }
  while (bytes_ > limits_.bytes_max.count) {
    Entry* const victim = queue_.next([](const Entry& entry) { return entry.bytes_ > 0; });
    if (victim == nullptr) break;
    evict(*victim, EvictionReason::kBytes);
  }
}

void HotTable::drop_longer_lived(Nanos life) {
  drop_copies_if([life](const Copy& copy) { return copy.deadline - copy.fill_sent_at > life; });
}

template <class Which>
void HotTable::drop_copies_if(Which which) {
  for_each_entry([&](Entry& entry) {
    for (CopySlot& slot : entry.copies_) {
      const Copy* const copy = slot.load();
      if (copy != nullptr && which(*copy)) replace(entry, slot, nullptr);
    }
  });
}

const Entry* HotTable::entry(KeyHash hash) const { return find_entry(hash); }

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
    if (entry.retained()) retained_bytes_ += cost(entry, *copy);
    entry.bytes_ += cost(entry, *copy);
    nils_ += copy->nil ? 1 : 0;
    ++copies_;
  }
  const Copy* old = slot.exchange(copy);
  if (old == nullptr) return;
  bytes_ -= cost(entry, *old);
  if (entry.retained()) retained_bytes_ -= cost(entry, *old);
  entry.bytes_ -= cost(entry, *old);
  nils_ -= old->nil ? 1 : 0;
  --copies_;
  epochs_.retire(old, cost(entry, *old));
}

Uncacheable HotTable::admit_copy(const Entry& entry, const Copy& copy, const Copy* old) {
  if (std::max(copy.reply.size(), copy.resp2.size()) > bulk_reply_size(limits_.value_bytes_max))
    return Uncacheable::kTooBig;
  const std::size_t other_nils = nils_ - (old != nullptr && old->nil ? 1 : 0);
  if (copy.nil && other_nils >= limits_.nil_max) return Uncacheable::kNilQuota;
  if (entry.retained() && !retained_have_room(entry, copy, old)) return Uncacheable::kNoRoom;
  return may_retire(cost(entry, copy)) && make_room(entry, copy, old) ? Uncacheable::kNo
                                                                      : Uncacheable::kNoRoom;
}

bool HotTable::retained_have_room(const Entry& wanted, const Copy& copy, const Copy* old) const {
  const std::uint64_t others = retained_bytes_ - (old != nullptr ? cost(wanted, *old) : 0);
  return others + cost(wanted, copy) <= limits_.retained_bytes_max.count;
}

// A worker that stays long in one turn delays reclamation. Replaced copies still occupy memory, and
// every inserted copy is replaced one day. So nothing is inserted beyond the limit.
bool HotTable::may_retire(std::size_t bytes) {
  if (epochs_.retired_bytes() + bytes > limits_.bytes_max.count) epochs_.collect();
  return epochs_.retired_bytes() + bytes <= limits_.bytes_max.count;
}

// Evicts other keys in their order until the copy has room: all that is needed, or none
// (docs/decisions/0032-room-is-made-in-an-order.md).
bool HotTable::make_room(const Entry& wanted, const Copy& copy, const Copy* old) {
  const std::size_t bytes = cost(wanted, copy);
  const std::size_t replaced = old != nullptr ? cost(wanted, *old) : 0;
  const std::uint64_t most = limits_.bytes_max.count;
  if (bytes_ - replaced + bytes <= most) return true;
  // What stays in any case: the retained keys' copies, and the other copies of this key.
  const std::uint64_t stays = retained_bytes_ + (wanted.retained() ? 0 : wanted.bytes_) - replaced;
  if (stays + bytes > most) return false;
  while (bytes_ - replaced + bytes > most) {
    Entry* const victim = queue_.next([&](const Entry& entry) {
      return &entry != &wanted && (entry.bytes_ > 0 || !entry.stays());
    });
    if (victim == nullptr) return false;
    evict(*victim, EvictionReason::kBytes);
  }
  return true;
}

std::size_t HotTable::cost(const Entry& entry, const Copy& copy) {
  return sizeof(Entry) + sizeof(Copy) + entry.key().size() + copy.read.bytes() + copy.reply.size() +
         copy.resp2.size();
}

}  // namespace heatsink::cache
