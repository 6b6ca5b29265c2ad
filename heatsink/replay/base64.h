// SPDX-License-Identifier: Apache-2.0
// Base64 back to bytes: the exact names of keys in a recording.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink::replay {

// RFC 4648 with padding; nothing if it is anything else.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace heatsink::replay
