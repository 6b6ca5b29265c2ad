// SPDX-License-Identifier: Apache-2.0
// hash_name() inline, for callers that hash each request: for a name of 24 bytes the call would
// cost as much as the hash.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

#include "heatsink/base/hash.h"

namespace heatsink {

inline NameHash hash_name_inline(std::string_view name, std::uint64_t seed) noexcept {
  return NameHash{XXH3_64bits_withSeed(name.data(), name.size(), seed)};
}

}  // namespace heatsink
