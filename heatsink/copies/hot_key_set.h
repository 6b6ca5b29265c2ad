// SPDX-License-Identifier: Apache-2.0
// Tells workers without a lock whether a key is hot, also one that must not have copies.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "heatsink/base/hash.h"

namespace heatsink::copies {

// A set of hashes: one writer, any number of readers. A look-up reads one cache line, or nothing
// while no key was ever added. 64 KiB once a key is added. At most kPerLine hashes share a line;
// one more is left out, which 1000 random keys meet once in a million sets.
class HotKeySet {
 public:
  static constexpr std::size_t kLines = 1024;
  static constexpr std::size_t kPerLine = 8;

  HotKeySet() = default;
  ~HotKeySet() { delete lines_.load(); }
  HotKeySet(const HotKeySet&) = delete;

  bool has(KeyHash key) const noexcept {
    const Lines* const lines = lines_.load(std::memory_order_acquire);
    if (lines == nullptr || key.value == 0) return false;
    for (const std::atomic<std::uint64_t>& cell : (*lines)[line_of(key.value)].cells)
      if (cell.load(std::memory_order_relaxed) == key.value) return true;
    return false;
  }

  // The writer: from now on the set has exactly these. Returns how many it has. O(keys).
  std::size_t assign(const std::vector<KeyHash>& keys) {
    std::unordered_set<std::uint64_t> wanted;
    for (const KeyHash key : keys)
      if (key.value != 0) wanted.insert(key.value);
    std::erase_if(members_, [&](std::uint64_t member) {
      if (wanted.contains(member)) return false;
      replace(member, 0);
      return true;
    });
    for (const std::uint64_t key : wanted) {
      if (members_.contains(key)) continue;
      if (lines_.load() == nullptr) lines_.store(new Lines(), std::memory_order_release);
      if (replace(0, key)) members_.insert(key);
    }
    return members_.size();
  }

 private:
  struct alignas(64) Line {
    std::array<std::atomic<std::uint64_t>, kPerLine> cells{};
  };
  using Lines = std::array<Line, kLines>;

  // The low bits of a hash choose the places in other tables.
  static std::size_t line_of(std::uint64_t key) { return (key >> 40) % kLines; }
  // In the line of the hash that is not 0.
  bool replace(std::uint64_t from, std::uint64_t to) {
    for (std::atomic<std::uint64_t>& cell :
         (*lines_.load())[line_of(from != 0 ? from : to)].cells) {
      if (cell.load(std::memory_order_relaxed) != from) continue;
      cell.store(to, std::memory_order_relaxed);
      return true;
    }
    return false;
  }

  std::atomic<Lines*> lines_{nullptr};
  std::unordered_set<std::uint64_t> members_;  // the writer's
};

}  // namespace heatsink::copies
