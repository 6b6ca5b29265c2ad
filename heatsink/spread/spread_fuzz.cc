// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the layout, the copy and the part of a counter that a server returns: what is
// accepted as a layout has the same bytes again, and the owners of its slots can be asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "heatsink/resp/resp.h"
#include "heatsink/spread/spread.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heatsink::spread;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto layout = parse_layout(bytes)) {
    require(to_text(*layout) == bytes);
    require(layout->slots.size() <= kPiecesMax);
    static const std::vector<std::uint16_t> kOwners(heatsink::resp::kSlots, 0);
    const auto better = better_slots(*layout, 0, 4, kOwners);
    require(!better || better->size() >= layout->slots.size());
  }
  const CopyText copy = parse_copy(bytes);
  if (copy.kind == CopyKind::kValue) require(value_text(copy.value) == bytes);
  PartSum sum;
  sum.add(bytes);
  if (sum.state() == PartSum::State::kSum) require(std::to_string(sum.value()) == bytes);
  return 0;
}
