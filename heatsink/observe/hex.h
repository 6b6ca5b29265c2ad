// SPDX-License-Identifier: Apache-2.0
// Bytes as hexadecimal text, for names of keys in files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink::observe {

std::string to_hex(std::string_view bytes);  // "00ff"; "-" for none, so that it is a word
// Nothing if it is not what to_hex() gives.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace heatsink::observe
