// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/kept_keys.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "heatsink/cache/pins.h"

namespace heatsink::client {
namespace {

// Deletes the object when no pin can hold it any more.
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

KeptKey::KeptKey(std::string_view key, KeyHash hash) : size_(key.size()), key_(key), hash_(hash) {
  if (size_ <= sizeof(start_)) std::copy(key.begin(), key.end(), start_);
}

KeptKeys::~KeptKeys() {
  for (auto& [hash, key] : keys_) retire(std::move(key));
  retire(std::unique_ptr<Index>(index_.load()));
}

bool KeptKeys::add(std::string_view key, KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = keys_.try_emplace(hash);
  if (!is_new) return false;
  at->second = std::make_unique<KeptKey>(key, hash);
  Index& index = *index_.load();
  // Removed keys keep their slots until the table is rebuilt, so they count here.
  if (slots_for(index.taken + 1) > index.mask + 1)
    publish();
  else
    take_slot(index, *at->second);
  return true;
}

bool KeptKeys::remove(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at == keys_.end()) return false;
  std::unique_ptr<KeptKey> gone = std::move(at->second);
  keys_.erase(at);
  // The value goes first: a reader that still sees the key finds no copy.
  replace(*gone, nullptr);
  index_.load()->slots[gone->slot_].key.store(&removed_key_);
  retire(std::move(gone));
  return true;
}

std::size_t KeptKeys::size() const {
  const std::lock_guard lock(mutex_);
  return keys_.size();
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
  if (!has_room(key, *cached)) {
    ++held_.no_room;
    replace(key, nullptr);  // the old value is no longer true
    return false;
  }
  replace(key, std::move(cached));
  return true;
}

bool KeptKeys::has_room(const KeptKey& key, const CachedValue& cached) const {
  const Held before = held_by(key, key.owner_.get()), after = held_by(key, &cached);
  return (!cached.missing || held_.missing - before.missing < limits_.missing) &&
         held_.bytes - before.bytes + after.bytes <= limits_.bytes;
}

void KeptKeys::drop(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at != keys_.end()) replace(*at->second, nullptr);
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

std::vector<std::string> KeptKeys::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  names.reserve(keys_.size());
  for (const auto& [hash, key] : keys_) names.push_back(key->key());
  return names;
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
  key.slot_ = at;
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
