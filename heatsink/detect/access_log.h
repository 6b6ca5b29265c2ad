// SPDX-License-Identifier: Apache-2.0
// Collects accesses and counts them together, so that their cache misses overlap.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "heatsink/detect/access.h"

namespace heatsink::detect {

// Copies of up to kEntries accesses with names of up to kNameBytes. Not thread-safe, no allocation.
class AccessLog {
 public:
  static constexpr std::uint32_t kEntries = 64;
  static constexpr std::size_t kNameBytes = 48;

  // Bytes, writes and hits in one word, so that summing a log takes one addition per entry.
  class Amount {
   public:
    Amount() = default;
    Amount(std::uint32_t bytes, bool write, bool hit)
        : word_(bytes | std::uint64_t{write} << kWrites | std::uint64_t{hit} << kHits) {}

    std::uint64_t bytes() const { return word_ & ((std::uint64_t{1} << kWrites) - 1); }
    std::uint32_t writes() const { return static_cast<std::uint32_t>(word_ >> kWrites) & 0xFF; }
    std::uint32_t hits() const { return static_cast<std::uint32_t>(word_ >> kHits); }
    bool none() const { return word_ == 0; }
    Amount& operator+=(Amount other) {
      word_ += other.word_;
      return *this;
    }

   private:
    static constexpr unsigned kWrites = 40, kHits = 48;
    static_assert(kEntries < 256, "the sums of a log fit");
    std::uint64_t word_ = 0;
  };

  struct Entry {
    std::uint64_t tag;  // the hash, or 1 for 0
    Amount amount;
    std::uint32_t db;
    std::uint32_t client;
    std::uint16_t command;
    std::uint8_t name_size;
  };

  static bool fits(const Access& access) { return access.key.size() <= kNameBytes; }

  // REQUIRES: !full() and fits(access).
  void push(const Access& access) noexcept {
    entries_[size_] = entry_of(access);
    copy_name(names_[size_], access.key);
    ++size_;
  }

  std::uint32_t size() const { return size_; }
  bool full() const { return size_ == kEntries; }
  void clear() { size_ = 0; }
  const Entry& operator[](std::uint32_t i) const { return entries_[i]; }
  // The name in an entry of this log.
  std::string_view name(const Entry& entry) const {
    return {names_[&entry - entries_], entry.name_size};
  }

  // `name_size` is not set if the name does not fit.
  static Entry entry_of(const Access& access) {
    return {.tag = access.hash.value == 0 ? 1 : access.hash.value,
            .amount = {access.bytes, access.kind == AccessKind::kWrite, access.local_hit},
            .db = access.db,
            .client = access.client,
            .command = access.command,
            .name_size = static_cast<std::uint8_t>(access.key.size())};
  }

 private:
  // These few moves, which overlap for most sizes, are cheaper than a call of memcpy.
  static void copy_name(char* to, std::string_view name) noexcept {
    const std::size_t n = name.size();
    const char* from = name.data();
    if (n >= 16) {
      std::memcpy(to, from, 16);
      if (n > 32) std::memcpy(to + 16, from + 16, 16);
      std::memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
      std::memcpy(to, from, 8);
      std::memcpy(to + n - 8, from + n - 8, 8);
    } else {
      for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
    }
  }

  std::uint32_t size_ = 0;
  Entry entries_[kEntries];
  char names_[kEntries][kNameBytes];
};

}  // namespace heatsink::detect
