// SPDX-License-Identifier: Apache-2.0
// Hashes key names with a seed: one hash per request serves detection, fences and the hot table.
#pragma once

#include <cstdint>
#include <string_view>

namespace heatsink {

// The hash of a key's name alone. Invalidations and fences do not know the database, so they use
// it.
struct NameHash {
  std::uint64_t value = 0;
  friend bool operator==(NameHash, NameHash) = default;
};

// The hash of a key's name in one database.
struct KeyHash {
  std::uint64_t value = 0;
  friend bool operator==(KeyHash, KeyHash) = default;
};

// XXH3, 64 bits. `seed` is drawn once per process, so that clients cannot force collisions.
NameHash hash_name(std::string_view name, std::uint64_t seed) noexcept;

// Cheap (a multiply and a xor-shift); db 0 .. 2^31.
inline KeyHash in_db(NameHash name, std::uint32_t db) noexcept {
  std::uint64_t h = name.value ^ (static_cast<std::uint64_t>(db) * 0x9E3779B97F4A7C15ULL);
  return KeyHash{h ^ (db == 0 ? 0 : h >> 29)};
}
// The inverse: of the name that is this key in the database.
inline NameHash without_db(KeyHash key, std::uint32_t db) noexcept {
  const std::uint64_t h = key.value ^ (db == 0 ? 0 : (key.value >> 29) ^ (key.value >> 58));
  return NameHash{h ^ (static_cast<std::uint64_t>(db) * 0x9E3779B97F4A7C15ULL)};
}

}  // namespace heatsink
