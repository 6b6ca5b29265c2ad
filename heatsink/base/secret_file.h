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

// Whether a secret is long enough and of printable ASCII without spaces, as a header carries it. No
// error repeats it.
Status check_secret(std::string_view secret);

// The one line of a file, without its end. Errors name the file, not what is in it: kUnavailable if
// it cannot be read, those of check_secret().
Result<std::string> read_secret_file(const std::string& path);

// The password of a server: the first line of a file, without its end, of 1 to kPasswordBytesMax
// bytes of any kind but null. Errors name the file.
inline constexpr std::size_t kPasswordBytesMax = 4096;
Result<std::string> read_password_file(const std::string& path);

// Takes equally long wherever they differ; tells only their lengths.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace heatsink
