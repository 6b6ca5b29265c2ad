// SPDX-License-Identifier: Apache-2.0
// Estimates the length of a reply from earlier ones: by the key that is read, and by the client
// that asks.
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

// The reply of one command, in bytes.
struct ExpectedReply {
  std::uint32_t known = 0;    // from earlier replies; 0: unknown
  std::uint32_t counted = 0;  // what the command counts for while its reply is owed
};

// The recent maximum: it grows at once, and each shorter reply reduces it by an eighth of the
// difference. Before the first reply it is `first`, so that a new client cannot ask for much at
// once. Not thread-safe. O(1), 12 bytes.
class ReplyGuess {
 public:
  ReplyGuess(std::uint32_t first, std::uint32_t least) : bytes_(first), least_(least) {}

  void record(std::uint64_t bytes) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
    if (!seen_ || now > bytes_) {
      bytes_ = now;
    } else {
      bytes_ -= (bytes_ - now) / 8;
    }
    seen_ = true;
  }

  // The bytes to count for a command; at least `least`.
  std::uint32_t bytes() const { return std::max(bytes_, least_); }
  // 0 before the first reply.
  std::uint32_t known() const { return seen_ ? bytes_ : 0; }

 private:
  std::uint32_t bytes_;
  const std::uint32_t least_;
  bool seen_ = false;
};

}  // namespace heatsink::proxy
