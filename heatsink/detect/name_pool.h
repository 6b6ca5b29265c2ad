// SPDX-License-Identifier: Apache-2.0
// Stores the ends of long key names in a fixed number of small chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::detect {

// Most names fit into their table entry. The ends of longer ones are chains of chunks here. Each
// chain knows its owner, so that a hot key can take the room of a cold one. Not thread-safe.
// Nothing is allocated after construction; store and release are O(length).
class NamePool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit NamePool(std::size_t bytes);

  // Copies `text` into a chain and returns it; kNone if there is not enough room. REQUIRES: text
  // not empty.
  std::uint32_t store(std::string_view text, std::uint32_t owner) noexcept;
  void release(std::uint32_t chain) noexcept;

  // Appends the text of `chain`, which is `size` bytes long.
  void append_to(std::string& out, std::uint32_t chain, std::size_t size) const;

  // The next owner in a round over the chunks, which may give up its room; kNone if this chunk has
  // none.
  std::uint32_t next_owner() noexcept;

  bool ever_holds(std::size_t size) const { return chunks_for(size) <= chunks_.size(); }
  std::size_t memory_bytes() const { return chunks_.size() * sizeof(Chunk); }

 private:
  struct Chunk {
    std::uint32_t next = kNone;
    std::uint32_t owner = kNone;  // set only in the first chunk of a chain
    char bytes[56];
  };

  static std::size_t chunks_for(std::size_t size) {
    return (size + sizeof(Chunk::bytes) - 1) / sizeof(Chunk::bytes);
  }

  std::vector<Chunk> chunks_;
  std::uint32_t free_ = kNone;
  std::size_t free_count_ = 0;
  std::size_t hand_ = 0;
};

}  // namespace heatsink::detect
