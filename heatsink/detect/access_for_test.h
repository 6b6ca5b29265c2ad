// SPDX-License-Identifier: Apache-2.0
// For tests: accesses of named keys, and look-ups in summaries.
#pragma once

#include <chrono>
#include <random>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/detect/access.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// The moment at which tests of this room begin.
inline constexpr TimePoint kStart{std::chrono::seconds(1000)};

// The access must not outlive `key`.
inline Access read_of(const std::string& key) { return {in_db(hash_name(key, 7), 0), key}; }

// A random access; `key` must outlive it.
inline Access random_access(std::mt19937_64& random, const std::string& key) {
  Access access = read_of(key);
  access.kind = random() % 4 == 0 ? AccessKind::kWrite : AccessKind::kRead;
  access.local_hit = access.kind == AccessKind::kRead && random() % 2 == 0;
  access.bytes = 100;
  return access;
}

inline const KeyCount* find(const Summary& summary, KeyHash hash) {
  for (const KeyCount& key : summary.keys) {
    if (key.hash == hash) return &key;
  }
  return nullptr;
}

inline const KeyCount* find(const Summary& summary, const std::string& key) {
  return find(summary, read_of(key).hash);
}

}  // namespace heatsink::detect
