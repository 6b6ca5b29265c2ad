// SPDX-License-Identifier: Apache-2.0
// The keys that a client keeps, with their copies: any thread reads them without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/cache/eviction_queue.h"
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

// A key that is hot, or has earned a copy. Readers use has_name() and touch(), which need one cache
// line. The lock of KeptKeys guards the rest.
class alignas(64) KeptKey {
 public:
  KeptKey(std::string_view key, KeyHash hash);
  KeptKey() noexcept : size_(UINT32_MAX), hash_{} {}  // matches no name

  const std::string& key() const { return key_; }
  KeyHash hash() const { return hash_; }
  bool has_name(std::string_view key) const noexcept {
    if (key.size() != size_) return false;
    return size_ <= sizeof(start_) ? is_same_name({start_, size_}, key) : key == key_;
  }
  // It was read. One store per turn of the queue, not per hit: otherwise all readers would contend
  // for this cache line.
  void touch() const noexcept {
    if (!visited_.load(std::memory_order_relaxed)) [[unlikely]]
      visited_.store(true, std::memory_order_relaxed);
  }

 private:
  friend class KeptKeys;
  template <class>
  friend class cache::EvictionQueue;

  const std::uint32_t size_;
  mutable std::atomic<bool> visited_{false};  // since the copy was put, or the queue passed
  bool is_hot_ = false;                       // and not in the queue
  bool was_empty_ = false;                    // at the last sweep
  alignas(8) char start_[44] = {};            // the whole name, if it is short enough
  std::uint32_t slot_ = 0;                    // index of its slot
  const std::string key_;
  const KeyHash hash_;
  SharedCachedValue owner_;   // owns the value in the slot
  KeptKey* older_ = nullptr;  // in the queue
  KeptKey* newer_ = nullptr;
};
static_assert(sizeof(KeptKey) == 128, "two cache lines");

// A thread that holds a cache::ReadGuard may call find(). Any thread may call the other functions;
// they take one lock and amortised constant time, except drop_all(), clear() and sweep(). A look-up
// is one probe of a table that also points to the copy, so the processor fetches the name's and the
// copy's cache lines in parallel.
//
// Hot keys stay until they cool down. Keys that have earned a copy make room for hot ones, and for
// each other, in the order SIEVE or CLOCK. Memory: at most 0.5 KB per key besides its copy.
class KeptKeys {
 public:
  struct Limits {
    std::size_t keys = SIZE_MAX;  // hot keys count, but are not refused
    std::size_t missing;          // number of copies of missing keys
    std::size_t bytes;            // of all copies, with their names
  };
  explicit KeptKeys(const Limits& limits) : limits_(limits) { publish(); }
  ~KeptKeys();  // REQUIRES no readers; guarded objects live on
  KeptKeys(const KeptKeys&) = delete;

  struct Found {
    bool is_kept = false;
    const CachedValue* cached = nullptr;  // null: no copy. Valid while the guard lives
  };
  Found find(KeyHash hash, std::string_view key) const noexcept {
    const Index& index = *index_.load();
    for (std::size_t at = hash.value & index.mask;; at = (at + 1) & index.mask) {
      const IndexSlot& slot = index.slots[at];
      const KeptKey* const kept = slot.key.load(std::memory_order_acquire);
      if (kept == nullptr) return {};
      if (slot.hash == hash.value && kept->has_name(key)) {
        kept->touch();
        return {true, slot.cached.load()};
      }
    }
  }

  // Makes the key hot. False: it is hot already, or another key has the same hash.
  bool make_hot(std::string_view key, KeyHash hash);
  // The key has earned a copy. False: all room is taken by hot keys, or another key has the same
  // hash.
  bool admit(std::string_view key, KeyHash hash);
  // The key is no longer hot; it keeps its copy as one that it has earned. False: it was not hot.
  bool cool(KeyHash hash);
  bool remove(KeyHash hash);
  void clear();
  void set_order(admit::EvictionOrder order);

  struct Held {
    std::size_t keys = 0;
    std::size_t hot = 0;  // among them
    std::size_t copies = 0;
    std::size_t missing = 0;
    std::size_t bytes = 0;
    std::uint64_t no_room = 0;  // copies refused for lack of room
    std::uint64_t evictions = 0;
    std::uint64_t evictions_for_bytes = 0;  // among them
    std::uint64_t left_unread = 0;          // keys that drop_changed() removed
  };
  Held held() const;

  // Replaces the copy of the key. False: the key is not kept, or there is no room even if others
  // are evicted. Then the old copy goes, too, and an earned key with it. Replaced copies that
  // readers still hold do not count.
  bool put(KeyHash hash, SharedCachedValue cached);
  // The copy goes.
  void drop(KeyHash hash);
  // The key has changed: its copy goes. An earned key whose copy was not read goes, too: it has to
  // earn its next copy. False: there was no copy.
  bool drop_changed(KeyHash hash);
  void drop_all();
  // Drops the copies that `is_lost` names, in one pass over all keys.
  void drop_if(const std::function<bool(std::string_view key, const CachedValue&)>& is_lost);
  // Visits the next `count` earned keys, in turn. Drops copies that expired before this time, and
  // keys that had no copy at the last visit either.
  void sweep(std::size_t count, TimePoint expired_before);
  SharedCachedValue copy(KeyHash hash) const;
  std::string name(KeyHash hash) const;  // "": the key is not kept
  bool has(KeyHash hash) const;
  bool is_hot(KeyHash hash) const;

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
  KeptKey* find_or_add(std::string_view key, KeyHash hash);
  void forget(KeptKey& key);
  bool make_room_for(KeptKey& key, const CachedValue& cached);
  bool evict_one(const KeptKey* but);  // false: there is none
  void replace(KeptKey& key, SharedCachedValue cached);

  const Limits limits_;
  const KeptKey removed_key_;
  std::atomic<Index*> index_{nullptr};
  mutable std::mutex mutex_;
  std::unordered_map<KeyHash, std::unique_ptr<KeptKey>, HashOfHash> keys_;
  cache::EvictionQueue<KeptKey> queue_;  // the keys that are not hot
  Held held_;
};

}  // namespace heatsink::client
