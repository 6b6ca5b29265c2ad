// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/fences.h"

#include <cassert>

namespace heatsink::cache {

void Fences::write_ends(NameHash name, TimePoint now) noexcept {
  raise(name, now);  // before the count: a reader that sees no write in flight must see the fence
  [[maybe_unused]] const std::uint32_t before = counter(name).fetch_sub(1);
  assert(before > 0);
}

void Fences::raise(NameHash name, TimePoint now) noexcept { table_.raise_fence(name, now); }

}  // namespace heatsink::cache
