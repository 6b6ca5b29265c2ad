// SPDX-License-Identifier: Apache-2.0
// Replaces the varying parts of a key's name by stars: "user:1001:cart" becomes "user:*:cart".
#pragma once

#include <string>
#include <string_view>

namespace heatsink::detect {

// Returns a pattern (key_pattern.h) that matches the key, with a star for each identifier.
// Identifiers are: numbers, even inside a word ("user42", "v2"); UUIDs; words of at least eight
// hexadecimal digits, or of at least sixteen letters and digits, that contain digits (hashes,
// ULIDs, random tokens). Numbers joined by dots or hyphens are one: 2024-11-05, 10.0.0.7. Bytes
// with a meaning in patterns are escaped. Pure; thread-safe; O(bytes).
//
// Words of letters only are never identifiers, even if all letters are hexadecimal: "facade",
// "deadbeef" and "user" stay. A name folded by mistake hides a key, while an unfolded one only adds
// a row.
std::string key_template(std::string_view key);

}  // namespace heatsink::detect
