// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a session of another process: what is accepted encodes to the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heatsink/session/carried_session.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto session = heatsink::proxy::decode_session(bytes);
  if (session.ok() && heatsink::proxy::encode(*session, 1) != bytes &&
      heatsink::proxy::encode(*session, 2) != bytes)
    std::abort();
  return 0;
}
