// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/kept_keys.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "heatsink/cache/read_guard.h"

namespace heatsink::client {
namespace {

// Deletes the object when no ReadGuard can protect it any more.
template <class T>
void retire(std::unique_ptr<T> object) {
  cache::retire([shared = std::shared_ptr<T>(std::move(object))]() mutable { shared.reset(); });
}

// A collision costs a hit 5 ns (a branch misprediction). Small tables make collisions rare, where
// memory is cheap.
std::size_t slots_for(std::size_t keys) {
  constexpr std::size_t kFew = 1024;
  return std::bit_ceil(keys * (keys <= kFew ? 8 : 2) + 2);
}

// What one copy adds to the totals; null: nothing.
KeptKeys::Held held_by(const KeptKey& key, const CachedValue* cached) {
  if (cached == nullptr) return {};
  return {.copies = 1,
          .missing = cached->missing ? std::size_t{1} : 0,
          .bytes = key.key().size() + cached->bytes};
}

}  // namespace

KeptKey::KeptKey(std::string_view key, KeyHash hash)
    : size_(static_cast<std::uint32_t>(key.size())), key_(key), hash_(hash) {
  if (size_ <= sizeof(start_)) std::copy(key.begin(), key.end(), start_);
}

KeptKeys::~KeptKeys() {
  for (auto& [hash, key] : keys_) retire(std::move(key));
  retire(std::unique_ptr<Index>(index_.load()));
}

// Null: another key has the same hash.
KeptKey* KeptKeys::find_or_add(std::string_view key, KeyHash hash) {
  const auto [at, is_new] = keys_.try_emplace(hash);
  if (!is_new) return at->second->has_name(key) ? at->second.get() : nullptr;
  at->second = std::make_unique<KeptKey>(key, hash);
  KeptKey& added = *at->second;
  ++held_.keys;
  Index& index = *index_.load();
  // Removed keys keep their slots until the table is rebuilt, so they count here.
  if (slots_for(index.taken + 1) > index.mask + 1)
    publish();
  else
    take_slot(index, added);
  queue_.add(added);
  return &added;
}

bool KeptKeys::make_hot(std::string_view key, KeyHash hash) {
  const std::lock_guard lock(mutex_);
  KeptKey* const kept = find_or_add(key, hash);
  if (kept == nullptr || kept->is_hot_) return false;
  queue_.remove(*kept);
  kept->is_hot_ = true;
  ++held_.hot;
  if (held_.keys > limits_.keys) evict_one(nullptr);
  return true;
}

bool KeptKeys::admit(std::string_view key, KeyHash hash) {
  const std::lock_guard lock(mutex_);
  if (!keys_.contains(hash) && held_.keys >= limits_.keys && !evict_one(nullptr)) return false;
  return find_or_add(key, hash) != nullptr;
}

bool KeptKeys::cool(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at == keys_.end() || !at->second->is_hot_) return false;
  at->second->is_hot_ = false;
  --held_.hot;
  queue_.add(*at->second);
  return true;
}

bool KeptKeys::remove(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at == keys_.end()) return false;
  forget(*at->second);
  return true;
}

void KeptKeys::clear() {
  const std::lock_guard lock(mutex_);
  while (!keys_.empty()) forget(*keys_.begin()->second);
}

void KeptKeys::forget(KeptKey& key) {
  const auto at = keys_.find(key.hash());
  std::unique_ptr<KeptKey> gone = std::move(at->second);
  keys_.erase(at);
  --held_.keys;
  if (gone->is_hot_)
    --held_.hot;
  else
    queue_.remove(*gone);
  // The value goes first: a reader that still sees the key finds no copy.
  replace(*gone, nullptr);
  index_.load()->slots[gone->slot_].key.store(&removed_key_);
  retire(std::move(gone));
}

void KeptKeys::set_order(admit::EvictionOrder order) {
  const std::lock_guard lock(mutex_);
  queue_.set_order(order);
}

KeptKeys::Held KeptKeys::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

bool KeptKeys::put(KeyHash hash, SharedCachedValue cached) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at == keys_.end()) return false;
  KeptKey& key = *at->second;
  if (!make_room_for(key, *cached)) {
    ++held_.no_room;
    if (key.is_hot_)
      replace(key, nullptr);  // the old value is no longer true
    else
      forget(key);
    return false;
  }
  replace(key, std::move(cached));
  key.visited_.store(false, std::memory_order_relaxed);
  key.was_empty_ = false;
  return true;
}

bool KeptKeys::make_room_for(KeptKey& key, const CachedValue& cached) {
  const Held before = held_by(key, key.owner_.get()), after = held_by(key, &cached);
  if (cached.missing && held_.missing - before.missing >= limits_.missing) return false;
  if (after.bytes > limits_.bytes) return false;
  while (held_.bytes - before.bytes + after.bytes > limits_.bytes) {
    if (!evict_one(&key)) return false;
    ++held_.evictions_for_bytes;
  }
  return true;
}

bool KeptKeys::evict_one(const KeptKey* but) {
  KeptKey* const victim = queue_.next([but](const KeptKey& key) { return &key != but; });
  if (victim == nullptr) return false;
  ++held_.evictions;
  forget(*victim);
  return true;
}

void KeptKeys::drop(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at != keys_.end()) replace(*at->second, nullptr);
}

bool KeptKeys::drop_changed(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at == keys_.end()) return false;
  KeptKey& key = *at->second;
  if (key.owner_ == nullptr) return false;
  const bool was_read = key.visited_.exchange(false, std::memory_order_relaxed);
  if (key.is_hot_ || was_read) {
    replace(key, nullptr);
  } else {
    ++held_.left_unread;
    forget(key);
  }
  return true;
}

void KeptKeys::drop_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, key] : keys_) replace(*key, nullptr);
}

void KeptKeys::drop_if(
    const std::function<bool(std::string_view key, const CachedValue&)>& is_lost) {
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, key] : keys_)
    if (key->owner_ != nullptr && is_lost(key->key(), *key->owner_)) replace(*key, nullptr);
}

void KeptKeys::sweep(std::size_t count, TimePoint expired_before) {
  const std::lock_guard lock(mutex_);
  queue_.sweep(count, [&](KeptKey& key) {
    if (key.owner_ != nullptr && key.owner_->expires_at > expired_before) return;
    const bool was_empty = std::exchange(key.was_empty_, true);
    if (key.owner_ != nullptr)
      replace(key, nullptr);
    else if (was_empty)
      forget(key);
  });
}

SharedCachedValue KeptKeys::copy(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  return at == keys_.end() ? nullptr : at->second->owner_;
}

std::string KeptKeys::name(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  return at == keys_.end() ? std::string() : std::string(at->second->key());
}

bool KeptKeys::has(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  return keys_.contains(hash);
}

bool KeptKeys::is_hot(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  return at != keys_.end() && at->second->is_hot_;
}

// Leaves room for a quarter more keys, so that the next rebuild comes only after that many changes.
// A reader that still uses the old index sees the copies of this moment, which is when its look-up
// counts.
void KeptKeys::publish() {
  auto next = std::make_unique<Index>(slots_for(keys_.size() + keys_.size() / 4));
  for (const auto& [hash, key] : keys_) take_slot(*next, *key);
  std::unique_ptr<Index> old(index_.exchange(next.release()));
  if (old != nullptr) retire(std::move(old));
}

void KeptKeys::take_slot(Index& index, KeptKey& key) {
  std::size_t at = key.hash().value & index.mask;
  while (index.slots[at].key.load() != nullptr) at = (at + 1) & index.mask;
  IndexSlot& slot = index.slots[at];
  slot.hash = key.hash().value;
  slot.cached.store(key.owner_.get());
  slot.key.store(&key, std::memory_order_release);
  key.slot_ = static_cast<std::uint32_t>(at);
  ++index.taken;
}

void KeptKeys::replace(KeptKey& key, SharedCachedValue cached) {
  const Held before = held_by(key, key.owner_.get()), after = held_by(key, cached.get());
  held_.copies += after.copies - before.copies;
  held_.missing += after.missing - before.missing;
  held_.bytes += after.bytes - before.bytes;
  index_.load()->slots[key.slot_].cached.store(cached.get());
  SharedCachedValue old = std::exchange(key.owner_, std::move(cached));
  if (old != nullptr) cache::retire([old = std::move(old)] {});
}

}  // namespace heatsink::client
