// SPDX-License-Identifier: Apache-2.0
// Remembers a few names by their hashes, in 64 bytes.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>

#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// A Bloom filter (1970) of three bits per name: it may take a name for one of its own, but misses
// none. With 3 names in it, it is wrong about one of 190 000 others; with 16, about one of 1400.
// (With one bit per name: one of 171, and one of 32.) A read that is taken for one of a key in
// flight goes to the server, and its reply ends the key's copy for all clients
// (docs/decisions/0102). One thread.
class NameFilter {
 public:
  void add(NameHash name) {
    for (const std::size_t bit : bits_of(name)) bits_.set(bit);
  }
  bool may_have(NameHash name) const {
    const std::array<std::size_t, 3> bits = bits_of(name);
    return bits_.test(bits[0]) && bits_.test(bits[1]) && bits_.test(bits[2]);
  }
  void add_all() { bits_.set(); }
  void clear() { bits_.reset(); }

 private:
  static constexpr std::size_t kBits = 512;

  static std::array<std::size_t, 3> bits_of(NameHash name) {
    return {name.value % kBits, (name.value / kBits) % kBits, (name.value / kBits / kBits) % kBits};
  }

  std::bitset<kBits> bits_;
};

}  // namespace heatsink::proxy
