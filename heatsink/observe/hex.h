// SPDX-License-Identifier: Apache-2.0
// Converts bytes to hexadecimal text, for key names in files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink::observe {

std::string to_hex(std::string_view bytes);  // "00ff"; "-" for none, so that it is a word
// Nothing if the text cannot come from to_hex().
std::optional<std::string> from_hex(std::string_view text);

}  // namespace heatsink::observe
