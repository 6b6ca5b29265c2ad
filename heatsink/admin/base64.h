// SPDX-License-Identifier: Apache-2.0
// Base64 with padding (RFC 4648, section 4): how any bytes travel in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink::admin {

std::string base64(std::string_view bytes);

// The bytes again; nothing for what base64() does not write.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace heatsink::admin
