// SPDX-License-Identifier: Apache-2.0
// Reads secrets from files, so that no command line shows them, and compares them in constant time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"

namespace heatsink {

inline constexpr std::size_t kSecretBytesMin = 16;
inline constexpr std::size_t kSecretBytesMax = 1024;

// Checks that a secret is long enough, and printable ASCII without spaces, so that a header can
// carry it. Errors do not contain it.
Status check_secret(std::string_view secret);

// Reads the only line of a file, without its end. Errors name the file, not its content:
// kUnavailable if it cannot be read, and those of check_secret().
Result<std::string> read_secret_file(const std::string& path);

// Reads a server's password: the first line of a file, without its end, of 1 to kPasswordBytesMax
// bytes except null bytes. Errors name the file.
inline constexpr std::size_t kPasswordBytesMax = 4096;
Result<std::string> read_password_file(const std::string& path);

// Takes the same time wherever the secrets differ; reveals only their lengths.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace heatsink
