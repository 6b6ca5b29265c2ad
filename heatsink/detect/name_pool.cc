// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/name_pool.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace heatsink::detect {

NamePool::NamePool(std::size_t bytes)
    : chunks_(bytes / sizeof(Chunk)), free_count_(chunks_.size()) {
  for (std::size_t i = chunks_.size(); i-- > 0;) {
    chunks_[i].next = free_;
    free_ = static_cast<std::uint32_t>(i);
  }
}

std::uint32_t NamePool::store(std::string_view text, std::uint32_t owner) noexcept {
  assert(!text.empty());
  if (free_count_ < chunks_for(text.size())) return kNone;
  const std::uint32_t chain = free_;
  std::uint32_t at = chain;
  for (;;) {
    Chunk& chunk = chunks_[at];
    chunk.owner = kNone;
    --free_count_;
    const std::size_t n = std::min(text.size(), sizeof(chunk.bytes));
    std::memcpy(chunk.bytes, text.data(), n);
    text.remove_prefix(n);
    if (text.empty()) break;
    at = chunk.next;
  }
  free_ = chunks_[at].next;
  chunks_[at].next = kNone;
  chunks_[chain].owner = owner;
  return chain;
}

void NamePool::release(std::uint32_t chain) noexcept {
  chunks_[chain].owner = kNone;
  while (chain != kNone) {
    const std::uint32_t next = chunks_[chain].next;
    chunks_[chain].next = free_;
    free_ = chain;
    ++free_count_;
    chain = next;
  }
}

void NamePool::append_to(std::string& out, std::uint32_t chain, std::size_t size) const {
  for (; size != 0; chain = chunks_[chain].next) {
    const std::size_t n = std::min(size, sizeof(Chunk::bytes));
    out.append(chunks_[chain].bytes, n);
    size -= n;
  }
}

std::uint32_t NamePool::next_owner() noexcept {
  if (chunks_.empty()) return kNone;
  hand_ = hand_ + 1 < chunks_.size() ? hand_ + 1 : 0;
  return chunks_[hand_].owner;
}

}  // namespace heatsink::detect
