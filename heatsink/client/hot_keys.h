// SPDX-License-Identifier: Apache-2.0
// The hot keys and their copies: read by any thread without a lock, changed by few.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/cached_value.h"

namespace heatsink::client {

// Names are short: a call of memcmp() costs more than comparing them word by word.
inline bool is_same_name(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  const auto word = [](const char* at) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof(bytes));
    return bytes;
  };
  if (a.size() < 8) return a == b;
  for (std::size_t i = 0; i + 8 < a.size(); i += 8)
    if (word(a.data() + i) != word(b.data() + i)) return false;
  return word(a.data() + a.size() - 8) == word(b.data() + b.size() - 8);
}

// A hot key. Readers see is_called(), for which one cache line is enough; the rest is under the
// lock of its HotKeys.
class alignas(64) HotKey {
 public:
  HotKey(std::string_view key, KeyHash hash);
  HotKey() noexcept : size_(SIZE_MAX), hash_{} {}  // is called nothing at all

  const std::string& key() const { return key_; }
  KeyHash hash() const { return hash_; }
  bool is_called(std::string_view key) const noexcept {
    if (key.size() != size_) return false;
    return size_ <= sizeof(start_) ? is_same_name({start_, size_}, key) : key == key_;
  }

 private:
  friend class HotKeys;
  const std::size_t size_;
  char start_[48] = {};  // all of the name, if it is short enough
  const std::string key_;
  const KeyHash hash_;
  std::size_t slot_ = 0;     // in the index
  SharedCachedValue owner_;  // of the cached that is shown there
};

// find() from any thread that holds a cache::Pin; everything else from any thread too, under one
// lock, and in constant time but for keys(). A look-up is one probe of a table, which also says
// where the copy is: its line and that of the name are fetched side by side.
class HotKeys {
 public:
  struct Limits {
    std::size_t missing;  // copies that say that there is no value
    std::size_t bytes;    // of all copies, with their names
  };
  explicit HotKeys(const Limits& limits) : limits_(limits) { publish(); }
  ~HotKeys();  // REQUIRES that nobody looks any more; what is pinned lives on
  HotKeys(const HotKeys&) = delete;

  struct Found {
    bool is_hot = false;
    const CachedValue* cached = nullptr;  // null: no copy. Valid while the pin lives
  };
  Found find(KeyHash hash, std::string_view key) const noexcept {
    const Index& index = *index_.load();
    for (std::size_t at = hash.value & index.mask;; at = (at + 1) & index.mask) {
      const IndexSlot& slot = index.slots[at];
      const HotKey* const hot = slot.key.load(std::memory_order_acquire);
      if (hot == nullptr) return {};
      if (slot.hash == hash.value && hot->is_called(key)) return {true, slot.cached.load()};
    }
  }

  // False: it is there already, or another key has its hash.
  bool add(std::string_view key, KeyHash hash);
  bool remove(KeyHash hash);
  std::size_t size() const;
  struct Held {
    std::size_t copies = 0;
    std::size_t missing = 0;
    std::size_t bytes = 0;
    std::uint64_t no_room = 0;  // how often there was none
  };
  Held held() const;

  // Replaces the copy of the key; false if it is not hot, or there is no room for it: then what it
  // had goes, too. What readers still hold of copies that are gone is not counted.
  bool put(KeyHash hash, SharedCachedValue cached);
  void drop(KeyHash hash);
  SharedCachedValue copy(KeyHash hash) const;
  std::string name(KeyHash hash) const;  // "": it is not hot
  bool has(KeyHash hash) const;

  std::vector<std::string> keys() const;

 private:
  // Is taken once, last its `key`: by whoever of the same hash sees the key all else is seen, and
  // a cached is never another key's. A key that goes leaves nobody_, until the index is made anew.
  struct alignas(32) IndexSlot {
    std::uint64_t hash = 0;
    std::atomic<const HotKey*> key{nullptr};
    std::atomic<const CachedValue*> cached{nullptr};
  };
  struct Index {
    explicit Index(std::size_t size) : mask(size - 1), slots(std::make_unique<IndexSlot[]>(size)) {}

    const std::size_t mask;  // a power of two less one, more than twice as many as are taken
    std::size_t taken = 0;   // also by keys that have gone; under mutex_
    const std::unique_ptr<IndexSlot[]> slots;
  };
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };

  // Under mutex_, but for the constructor.
  void publish();
  static void take_slot(Index& index, HotKey& key);
  bool has_room(const HotKey& key, const CachedValue& cached) const;
  void replace(HotKey& key, SharedCachedValue cached);

  const Limits limits_;
  const HotKey nobody_;
  std::atomic<Index*> index_{nullptr};
  mutable std::mutex mutex_;
  std::unordered_map<KeyHash, std::unique_ptr<HotKey>, HashOfHash> keys_;
  Held held_;
};

}  // namespace heatsink::client
