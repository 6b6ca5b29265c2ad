// SPDX-License-Identifier: Apache-2.0
// How big the last reply to a read of a key was: what its next read is counted with.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// A read is counted when it is asked, and its size is known when it is answered: so it is counted
// with the size of the answer before. Fixed memory, direct-mapped; of two keys in one place the one
// whose bytes were met more often, and in bigger pieces, stays. Not thread-safe. O(1), one line.
class ReplySizes {
 public:
  static constexpr std::size_t kPlaces = 4096;  // 64 KiB

  void remember(KeyHash key, std::uint64_t bytes) {
    auto& [owner, last] = sizes_.slot(key);
    if (owner != key && last.claim > 0) {
      --last.claim;
      return;
    }
    owner = key;
    last.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
    // So many replies of other keys in this place, before this key gives it up.
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
  DirectMappedTable<KeyHash, Size, kPlaces> sizes_;
};

}  // namespace heatsink::proxy
