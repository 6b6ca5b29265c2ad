// SPDX-License-Identifier: Apache-2.0
// Stores the names of a KeyTable's keys: the beginning in the row, the end in a NamePool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/detect/key_rows.h"
#include "heatsink/detect/name_pool.h"

namespace heatsink::detect {

// Most names fit into their row. Where the ends of longer ones find no room, a busy key takes that
// of one that is less than half as busy, whose name is then cut. Not thread-safe; only name_of()
// allocates after construction.
class KeyNames {
 public:
  explicit KeyNames(std::size_t bytes) : ends_(bytes) {}

  // Stores the name of a row, and sets its NameState: up to kKeyBytesMax bytes, or fewer if there
  // is no room. Rolls the rows that it compares with. REQUIRES: rolled, no end stored. O(length)
  // without such rows.
  void store(KeyRows& rows, std::uint32_t key, std::string_view name) noexcept;

  // Gives back the room of the end, if there is one. The name in the row is no longer valid.
  void release(const Details& details) noexcept {
    if (details.name_end != NamePool::kNone) ends_.release(details.name_end);
  }

  std::string name_of(const Details& details) const;

  std::size_t memory_bytes() const { return ends_.memory_bytes(); }

 private:
  std::uint32_t store_end(KeyRows& rows, std::uint32_t key, std::string_view end) noexcept;
  void cut(Details& details) noexcept;

  NamePool ends_;
};

}  // namespace heatsink::detect
