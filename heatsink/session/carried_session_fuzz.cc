// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a session of another process: what is accepted encodes to the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heatsink/session/carried_session.h"

namespace {

using heatsink::proxy::CarriedSession;

// In the layout that the bytes name; that is for the decoder to find.
bool encodes_to(const CarriedSession& session, std::string_view bytes) {
  for (auto layout = CarriedSession::kOldestLayout; layout <= CarriedSession::kLayout; ++layout) {
    if (heatsink::proxy::encode(session, layout) == bytes) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto session = heatsink::proxy::decode_session(bytes);
  if (session.ok() && !encodes_to(*session, bytes)) std::abort();
  return 0;
}
