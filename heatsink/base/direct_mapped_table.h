// SPDX-License-Identifier: Apache-2.0
// A hash table of fixed size in which each key has one place, and colliding keys overwrite each
// other.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

namespace heatsink {

// A number as it is, and of a hash (KeyHash, NameHash ...) its `value`.
struct PlaceByValue {
  template <class Key>
  constexpr std::size_t operator()(const Key& key) const noexcept {
    if constexpr (std::is_integral_v<Key>) {
      return key;
    } else {
      return key.value;
    }
  }
};

// For what may be forgotten at any time: the owner must be right, if slower, without an entry.
// `Hash` must have chance in its low bits: the keys are hashes, seeded if clients choose the names.
//
// A free place has Key{} and Value{}. So find(Key{}) may find a value that nobody has put there:
// Value{} must mean that nothing is known, or Key{} must never be asked for.
//
// Not thread-safe. Each call is O(1), touches one entry and allocates nothing. The entries stand in
// the object itself, sizeof(Entry) * kPlaces bytes: an owner that has many of them, or may never
// need it, holds it by pointer. References are valid as long as the table, but what they refer to
// changes its key.
template <class Key, class Value, std::size_t kPlaces, class Hash = PlaceByValue>
class DirectMappedTable {
  static_assert(std::has_single_bit(kPlaces), "a power of 2, so that no division finds the place");

 public:
  struct Entry {
    Key key{};
    Value value{};
  };

  // Null: another key has the place, or none.
  const Value* find(const Key& key) const noexcept {
    const Entry& found = place(key);
    return found.key == key ? &found.value : nullptr;
  }
  Value* find(const Key& key) noexcept {
    Entry& found = place(key);
    return found.key == key ? &found.value : nullptr;
  }

  // The value of `key`; a new one, Value{}, if another key had the place.
  Value& claim(const Key& key) noexcept {
    Entry& found = place(key);
    if (!(found.key == key)) found = {key, Value{}};
    return found.value;
  }

  void put(const Key& key, const Value& value) noexcept { place(key) = {key, value}; }

  void erase(const Key& key) noexcept {
    if (Entry& found = place(key); found.key == key) found = Entry{};
  }

  // The place of `key`, whoever has it: for owners that decide by themselves which key stays.
  Entry& place(const Key& key) noexcept { return entries_[Hash()(key) % kPlaces]; }
  const Entry& place(const Key& key) const noexcept { return entries_[Hash()(key) % kPlaces]; }

 private:
  std::array<Entry, kPlaces> entries_{};
};

}  // namespace heatsink
