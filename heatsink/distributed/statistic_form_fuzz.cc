// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a slot: the result must be an error, or numbers that survive encoding.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heatsink/distributed/statistic_form.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using heatsink::distributed::decode_slot;
  const auto slot = decode_slot(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!slot.ok() || slot->summary.count == 0) return 0;
  // The sum of several parts may exceed what one part may have.
  const auto again = decode_slot("\x01" + heatsink::distributed::encode_part(slot->summary));
  if (again.ok() && !(again->summary == slot->summary)) std::abort();
  return 0;
}
