// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/hot_keys.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "heatsink/cache/pins.h"

namespace heatsink::client {
namespace {

// Deletes it when no pin is left that may hold it.
template <class T>
void retire(std::unique_ptr<T> object) {
  cache::retire([shared = std::shared_ptr<T>(std::move(object))]() mutable { shared.reset(); });
}

// A collision costs a hit 5 ns (a wrong guess of the processor's): rare where that is cheap.
std::size_t places_for(std::size_t keys) {
  constexpr std::size_t kFew = 1024;
  return std::bit_ceil(keys * (keys <= kFew ? 8 : 2) + 2);
}

}  // namespace

HotKey::HotKey(std::string_view key, KeyHash hash) : size_(key.size()), key_(key), hash_(hash) {
  if (size_ <= sizeof(start_)) std::copy(key.begin(), key.end(), start_);
}

HotKeys::~HotKeys() {
  for (auto& [hash, key] : keys_) retire(std::move(key));
  retire(std::unique_ptr<const Index>(index_.load()));
}

bool HotKeys::add(std::string_view key, KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = keys_.try_emplace(hash);
  if (!is_new) return false;
  at->second = std::make_unique<HotKey>(key, hash);
  publish();
  return true;
}

bool HotKeys::remove(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at == keys_.end()) return false;
  std::unique_ptr<HotKey> gone = std::move(at->second);
  keys_.erase(at);
  replace(*gone, nullptr);
  publish();
  retire(std::move(gone));
  return true;
}

std::size_t HotKeys::size() const {
  const std::lock_guard lock(mutex_);
  return keys_.size();
}

std::size_t HotKeys::copies() const {
  const std::lock_guard lock(mutex_);
  return copies_;
}

bool HotKeys::put(KeyHash hash, SharedBox box) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at == keys_.end()) return false;
  HotKey& key = *at->second;
  const bool was_missing = key.owner_ != nullptr && key.owner_->missing;
  if (box->missing && !was_missing && missing_ >= missing_max_) {
    replace(key, nullptr);  // what it had is not true any more
    return false;
  }
  replace(key, std::move(box));
  return true;
}

void HotKeys::drop(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  if (at != keys_.end()) replace(*at->second, nullptr);
}

SharedBox HotKeys::copy(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  return at == keys_.end() ? nullptr : at->second->owner_;
}

std::string HotKeys::name(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(hash);
  return at == keys_.end() ? std::string() : std::string(at->second->key());
}

bool HotKeys::has(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  return keys_.contains(hash);
}

std::vector<std::string> HotKeys::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  names.reserve(keys_.size());
  for (const auto& [hash, key] : keys_) names.emplace_back(key->key());
  return names;
}

void HotKeys::publish() {
  const std::size_t size = places_for(keys_.size());
  auto next = std::make_unique<Index>(Index{size - 1, std::make_unique<Place[]>(size)});
  for (const auto& [hash, key] : keys_) {
    std::size_t at = hash.value & next->mask;
    while (next->places[at].key != nullptr) at = (at + 1) & next->mask;
    next->places[at] = {hash.value, key.get()};
  }
  std::unique_ptr<const Index> old(index_.exchange(next.release()));
  if (old != nullptr) retire(std::move(old));
}

void HotKeys::replace(HotKey& key, SharedBox box) {
  if (box != nullptr) {
    ++copies_;
    if (box->missing) ++missing_;
  }
  if (key.owner_ != nullptr) {
    --copies_;
    if (key.owner_->missing) --missing_;
  }
  key.box_.store(box.get());
  SharedBox old = std::exchange(key.owner_, std::move(box));
  if (old != nullptr) cache::retire([old = std::move(old)] {});
}

}  // namespace heatsink::client
