// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace heatsink {

NameHash hash_name(std::string_view name, std::uint64_t seed) noexcept {
  return NameHash{XXH3_64bits_withSeed(name.data(), name.size(), seed)};
}

}  // namespace heatsink
