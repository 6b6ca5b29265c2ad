// SPDX-License-Identifier: Apache-2.0
// Encodes Base64 with padding (RFC 4648, section 4), so that JSON can carry names with any bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink {

std::string base64(std::string_view bytes);

// Decodes exactly what base64() produces; nothing for any other form.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace heatsink
