// SPDX-License-Identifier: Apache-2.0
// A hash table of fixed size in which each key has one slot, and colliding keys overwrite each
// other.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

namespace heatsink {

// The slot of a number is the number itself; of a hash (KeyHash, NameHash ...) its `value`.
struct SlotByValue {
  template <class Key>
  constexpr std::size_t operator()(const Key& key) const noexcept {
    if constexpr (std::is_integral_v<Key>) {
      return key;
    } else {
      return key.value;
    }
  }
};

// For entries that may be lost at any time: without an entry the owner must be correct, if slower.
// The low bits of `Hash` must be random: keys are hashes, seeded if clients choose the names.
//
// A free slot has Key{} and Value{}. So find(Key{}) may return a value that was never stored:
// either Value{} must mean "unknown", or the owner must never look up Key{}.
//
// Not thread-safe. Each call is O(1), touches one entry and allocates nothing. The entries are
// inside the object, sizeof(Entry) * kSlots bytes: an owner with many tables, or one that may never
// need it, should hold it by pointer. References are valid as long as the table, but their key may
// change.
template <class Key, class Value, std::size_t kSlots, class Hash = SlotByValue>
class DirectMappedTable {
  static_assert(std::has_single_bit(kSlots), "a power of 2, so that no division finds the slot");

 public:
  struct Entry {
    Key key{};
    Value value{};
  };

  // Null: the slot is free, or another key has it.
  const Value* find(const Key& key) const noexcept {
    const Entry& found = slot(key);
    return found.key == key ? &found.value : nullptr;
  }
  Value* find(const Key& key) noexcept {
    Entry& found = slot(key);
    return found.key == key ? &found.value : nullptr;
  }

  // The value of `key`; a new Value{} if another key had the slot.
  Value& claim(const Key& key) noexcept {
    Entry& found = slot(key);
    if (!(found.key == key)) found = {key, Value{}};
    return found.value;
  }

  void put(const Key& key, const Value& value) noexcept { slot(key) = {key, value}; }

  void erase(const Key& key) noexcept {
    if (Entry& found = slot(key); found.key == key) found = Entry{};
  }

  // The slot of `key`, whatever key is in it: for owners that decide themselves which key stays.
  Entry& slot(const Key& key) noexcept { return entries_[Hash()(key) % kSlots]; }
  const Entry& slot(const Key& key) const noexcept { return entries_[Hash()(key) % kSlots]; }

 private:
  std::array<Entry, kSlots> entries_{};
};

}  // namespace heatsink
