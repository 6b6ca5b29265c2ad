// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/tls_memory.h"

#include <malloc.h>
#include <openssl/crypto.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace heatsink::net {
namespace {

// Threads count on lines of their own, so that two workers do not take one line from each other. A
// thread may free what another allocated: only the sum is a size.
struct alignas(64) Line {
  std::atomic<std::int64_t> bytes{0};
};
constexpr std::size_t kLines = 16;
std::array<Line, kLines> lines;
std::atomic<std::size_t> next_line{0};

void count(std::int64_t bytes) noexcept {
  thread_local const std::size_t line = next_line.fetch_add(1, std::memory_order_relaxed) % kLines;
  lines[line].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

std::int64_t size_of(void* memory) noexcept {
  return static_cast<std::int64_t>(malloc_usable_size(memory));
}

void* counted_malloc(std::size_t size, const char* /*file*/, int /*line*/) {
  void* const memory = std::malloc(size);
  count(size_of(memory));
  return memory;
}

void* counted_realloc(void* memory, std::size_t size, const char* /*file*/, int /*line*/) {
  const std::int64_t before = size_of(memory);
  void* const moved = std::realloc(memory, size);
  if (moved != nullptr || size == 0) count(size_of(moved) - before);
  return moved;
}

void counted_free(void* memory, const char* /*file*/, int /*line*/) {
  count(-size_of(memory));
  std::free(memory);
}

}  // namespace

bool count_tls_memory() noexcept {
  return CRYPTO_set_mem_functions(counted_malloc, counted_realloc, counted_free) == 1;
}

std::uint64_t tls_memory_bytes() noexcept {
  std::int64_t sum = 0;
  for (const Line& line : lines) sum += line.bytes.load(std::memory_order_relaxed);
  return sum > 0 ? static_cast<std::uint64_t>(sum) : 0;
}

}  // namespace heatsink::net
