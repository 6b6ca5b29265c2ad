// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/hash.h"

#include "heatsink/base/hash_inline.h"

namespace heatsink {

NameHash hash_name(std::string_view name, std::uint64_t seed) noexcept {
  return hash_name_inline(name, seed);
}

}  // namespace heatsink
