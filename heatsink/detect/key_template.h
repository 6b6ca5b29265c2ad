// SPDX-License-Identifier: Apache-2.0
// Finds the template of a key's name, without the parts that vary: "user:1001:cart" is
// "user:*:cart".
#pragma once

#include <string>
#include <string_view>

namespace heatsink::detect {

// A pattern (key_pattern.h) that matches the key, with a star for each identifier: a number, also
// inside a word ("user42", "v2"); a UUID; a word of at least eight hexadecimal digits, or at least
// sixteen letters and digits, that has digits in it (hashes, ULIDs, random tokens). Numbers joined
// by dots or hyphens are one: 2024-11-05, 10.0.0.7. Bytes that mean something in a pattern are
// escaped. Pure; O(bytes), thread-safe.
//
// Digits alone do not make an identifier of a word of letters, nor letters of hexadecimal ones:
// "facade", "deadbeef" and "user" stay, for a name folded wrongly hides a key, while one left apart
// is only a row more.
std::string key_template(std::string_view key);

}  // namespace heatsink::detect
