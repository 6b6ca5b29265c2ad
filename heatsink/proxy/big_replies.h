// SPDX-License-Identifier: Apache-2.0
// Remembers which commands had big replies lately, by command and key, and how big they were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// A reply's size is known when it comes, and the connection is chosen when its command goes: so a
// command is judged by the reply before. STRLEN of a big value is not GET of it, hence the command.
// Fixed memory (16 KiB), direct-mapped: a new big one overwrites. One worker's thread. O(1).
class BigReplies {
 public:
  static constexpr std::uint64_t kBigBytes = 64 * 1024;
  static constexpr std::size_t kPlaces = 1024;
  // A key whose replies vary is taken for big until so many smaller ones came in a row.
  static constexpr std::uint32_t kForgottenAfter = 8;

  // `command`: any number that is the command's own, not 0.
  static std::uint64_t hash(std::uint16_t command, KeyHash key) {
    return key.value ^ (command * 0x9e3779b97f4a7c15ULL);  // the golden ratio: all bits differ
  }

  void saw(std::uint64_t which, std::uint64_t bytes) {
    auto& [key, big] = replies_.slot(which);
    if (key != which || big.bytes == 0) {
      if (bytes < kBigBytes) return;
      if (big.bytes == 0) ++size_;
      key = which;
      big = {clamp(bytes), 0};
    } else if (bytes >= kBigBytes && bytes >= big.bytes / 2) {
      big = {clamp(bytes), 0};
    } else if (++big.smaller == kForgottenAfter) {
      big = {bytes < kBigBytes ? 0 : clamp(bytes), 0};
      if (big.bytes == 0) --size_;
    }
  }

  // 0: not known to be big.
  std::uint32_t expect(std::uint64_t which) const {
    const Big* big = replies_.find(which);
    return big == nullptr ? 0 : big->bytes;
  }

  bool empty() const { return size_ == 0; }

 private:
  struct Big {
    std::uint32_t bytes = 0;  // 0: a free place
    std::uint32_t smaller = 0;
  };

  static std::uint32_t clamp(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  }

  DirectMappedTable<std::uint64_t, Big, kPlaces> replies_;
  std::size_t size_ = 0;
};

}  // namespace heatsink::proxy
