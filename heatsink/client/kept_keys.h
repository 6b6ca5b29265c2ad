// SPDX-License-Identifier: Apache-2.0
// The hot keys of a client and their copies: any thread reads them without a lock.
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

// For short names a call of memcmp() costs more than a word-by-word comparison.
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

// A hot key. Readers use has_name(), which needs one cache line. The lock of KeptKeys guards the
// rest.
class alignas(64) KeptKey {
 public:
  KeptKey(std::string_view key, KeyHash hash);
  KeptKey() noexcept : size_(SIZE_MAX), hash_{} {}  // matches no name

  const std::string& key() const { return key_; }
  KeyHash hash() const { return hash_; }
  bool has_name(std::string_view key) const noexcept {
    if (key.size() != size_) return false;
    return size_ <= sizeof(start_) ? is_same_name({start_, size_}, key) : key == key_;
  }

 private:
  friend class KeptKeys;
  const std::size_t size_;
  char start_[48] = {};  // the whole name, if it is short enough
  const std::string key_;
  const KeyHash hash_;
  std::size_t slot_ = 0;     // index of its slot
  SharedCachedValue owner_;  // owns the value in the slot
};

// A thread that holds a cache::Pin may call find(). Any thread may call the other functions; they
// take one lock and constant time, except keys(). A look-up is one probe of a table that also
// points to the copy, so the processor fetches the name's and the copy's cache lines in parallel.
class KeptKeys {
 public:
  struct Limits {
    std::size_t missing;  // number of copies of missing keys
    std::size_t bytes;    // of all copies, with their names
  };
  explicit KeptKeys(const Limits& limits) : limits_(limits) { publish(); }
  ~KeptKeys();  // REQUIRES no readers; pinned objects live on
  KeptKeys(const KeptKeys&) = delete;

  struct Found {
    bool is_hot = false;
    const CachedValue* cached = nullptr;  // null: no copy. Valid while the pin lives
  };
  Found find(KeyHash hash, std::string_view key) const noexcept {
    const Index& index = *index_.load();
    for (std::size_t at = hash.value & index.mask;; at = (at + 1) & index.mask) {
      const IndexSlot& slot = index.slots[at];
      const KeptKey* const hot = slot.key.load(std::memory_order_acquire);
      if (hot == nullptr) return {};
      if (slot.hash == hash.value && hot->has_name(key)) return {true, slot.cached.load()};
    }
  }

  // False: the key is there already, or another key has the same hash.
  bool add(std::string_view key, KeyHash hash);
  bool remove(KeyHash hash);
  std::size_t size() const;
  struct Held {
    std::size_t copies = 0;
    std::size_t missing = 0;
    std::size_t bytes = 0;
    std::uint64_t no_room = 0;  // copies refused for lack of room
  };
  Held held() const;

  // Replaces the copy of the key. False: the key is not hot, or there is no room; then the old copy
  // goes, too. Replaced copies that readers still hold do not count.
  bool put(KeyHash hash, SharedCachedValue cached);
  void drop(KeyHash hash);
  SharedCachedValue copy(KeyHash hash) const;
  std::string name(KeyHash hash) const;  // "": the key is not hot
  bool has(KeyHash hash) const;

  std::vector<std::string> keys() const;

 private:
  // Taken once, with `key` stored last: a reader that sees the key also sees the hash and the
  // value, and the value is never another key's. A removed key leaves removed_key_ until the index
  // is rebuilt.
  struct alignas(32) IndexSlot {
    std::uint64_t hash = 0;
    std::atomic<const KeptKey*> key{nullptr};
    std::atomic<const CachedValue*> cached{nullptr};
  };
  struct Index {
    explicit Index(std::size_t size) : mask(size - 1), slots(std::make_unique<IndexSlot[]>(size)) {}

    const std::size_t mask;  // a power of two minus 1; the size is more than twice `taken`
    std::size_t taken = 0;   // includes removed keys; guarded by mutex_
    const std::unique_ptr<IndexSlot[]> slots;
  };
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };

  // REQUIRES mutex_, except in the constructor.
  void publish();
  static void take_slot(Index& index, KeptKey& key);
  bool has_room(const KeptKey& key, const CachedValue& cached) const;
  void replace(KeptKey& key, SharedCachedValue cached);

  const Limits limits_;
  const KeptKey removed_key_;
  std::atomic<Index*> index_{nullptr};
  mutable std::mutex mutex_;
  std::unordered_map<KeyHash, std::unique_ptr<KeptKey>, HashOfHash> keys_;
  Held held_;
};

}  // namespace heatsink::client
