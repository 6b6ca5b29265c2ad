// SPDX-License-Identifier: Apache-2.0
// Remembers the size of the last reply to reads of a key, to count the key's next read with it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// A read is counted when it is sent, but its size is known only from the reply: so it is counted
// with the size of the previous reply. Direct-mapped in fixed memory; of two keys with the same
// entry, the one with more and bigger replies stays. Not thread-safe. O(1), one cache line.
class ReplySizes {
 public:
  static constexpr std::size_t kEntries = 4096;  // 64 KiB

  void remember(KeyHash key, std::uint64_t bytes) {
    auto& [owner, last] = sizes_.slot(key);
    if (owner != key && last.claim > 0) {
      --last.claim;
      return;
    }
    owner = key;
    last.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
    // This many replies of colliding keys pass before this key loses the entry.
    last.claim = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / 64, 4096));
  }

  // 0: not known.
  std::uint32_t last(KeyHash key) const {
    const Size* last = sizes_.find(key);
    return last == nullptr ? 0 : last->bytes;
  }

 private:
  struct Size {
    std::uint32_t bytes = 0;
    std::uint32_t claim = 0;
  };
  DirectMappedTable<KeyHash, Size, kEntries> sizes_;
};

}  // namespace heatsink::proxy
