// SPDX-License-Identifier: Apache-2.0
// hash_name() for those who hash at every request: of a name of 24 bytes the call costs as much as
// the hash.
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
