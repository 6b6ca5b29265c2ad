// SPDX-License-Identifier: Apache-2.0
// Remembers which commands recently had big replies, by command and key, and how big they were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// The connection is chosen when a command is sent, but the size of its reply is known only later:
// so the previous reply predicts the next one. The command belongs to the key, because STRLEN of a
// big value has a small reply. Direct-mapped in fixed memory (16 KiB): a new entry overwrites an
// old one. One worker's thread. O(1).
class BigReplies {
 public:
  static constexpr std::uint64_t kBigBytes = 64 * 1024;
  static constexpr std::size_t kEntries = 1024;
  // A key counts as big until this many smaller replies came in a row.
  static constexpr std::uint32_t kForgottenAfter = 8;

  // `command`: the command's own number, not 0.
  static std::uint64_t hash(std::uint16_t command, KeyHash key) {
    return key.value ^ (command * 0x9e3779b97f4a7c15ULL);  // the golden ratio: all bits differ
  }

  void record(std::uint64_t which, std::uint64_t bytes) {
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
    std::uint32_t bytes = 0;  // 0: the entry is free
    std::uint32_t smaller = 0;
  };

  static std::uint32_t clamp(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  }

  DirectMappedTable<std::uint64_t, Big, kEntries> replies_;
  std::size_t size_ = 0;
};

}  // namespace heatsink::proxy
