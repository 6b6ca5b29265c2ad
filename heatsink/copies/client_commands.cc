// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/client_commands.h"

#include <algorithm>
#include <memory>

namespace heatsink::copies {

ClientCommands::~ClientCommands() {
  for (const std::atomic<Chunk*>& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

void ClientCommands::add(std::uint32_t client, std::uint32_t commands) {
  client = std::min(client, kClientsMax - 1);
  std::atomic<Chunk*>& at = chunks_[client / kChunk];
  Chunk* chunk = at.load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = std::make_unique<Chunk>().release();
    at.store(chunk, std::memory_order_release);
  }
  std::atomic<std::uint32_t>& count = (*chunk)[client % kChunk];
  count.store(count.load(std::memory_order_relaxed) + commands, std::memory_order_relaxed);
}

void ClientCommands::add_to(std::vector<std::uint32_t>& counts) const {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk* const chunk = chunks_[i].load(std::memory_order_acquire);
    if (chunk == nullptr) continue;
    const std::size_t first = i * kChunk;
    counts.resize(std::max(counts.size(), first + kChunk));
    for (std::size_t j = 0; j < kChunk; ++j)
      counts[first + j] += (*chunk)[j].load(std::memory_order_relaxed);
  }
}

std::size_t ClientCommands::memory_bytes() const {
  const auto is_there = [](const std::atomic<Chunk*>& chunk) {
    return chunk.load(std::memory_order_relaxed) != nullptr;
  };
  return static_cast<std::size_t>(std::ranges::count_if(chunks_, is_there)) * sizeof(Chunk);
}

}  // namespace heatsink::copies
