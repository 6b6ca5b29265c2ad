// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a message of a hand-over: what is accepted encodes to the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heatsink/handover/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const heatsink::Result<heatsink::handover::Message> message = heatsink::handover::decode(bytes);
  if (message.ok() && heatsink::handover::encode(*message) != bytes) std::abort();
  return 0;
}
