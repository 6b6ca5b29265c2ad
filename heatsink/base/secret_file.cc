// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/secret_file.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "heatsink/base/printable.h"

namespace heatsink {

Status check_secret(std::string_view secret) {
  const bool writable =
      std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (writable && secret.size() >= kSecretBytesMin && secret.size() <= kSecretBytesMax)
    return Unit{};
  return invalid_argument(
      "a secret must be one line of " + std::to_string(kSecretBytesMin) + " to " +
      std::to_string(kSecretBytesMax) +
      " printable ASCII characters without spaces; make one with: openssl rand -hex 32");
}

Result<std::string> read_secret_file(const std::string& path) {
  const std::string named = "the secret file '" + printable(path) + "'";
  std::ifstream file(path, std::ios::binary);
  std::array<char, kSecretBytesMax + 3> bytes{};
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad() || (file.fail() && !file.eof()))
    return Error{ErrorCode::kUnavailable,
                 named + " cannot be read: check that it exists and its permissions"};
  std::string secret(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.ends_with('\r')) secret.pop_back();
  const Status good = check_secret(secret);
  if (good.ok()) return secret;
  return Error{good.error().code, named + ": " + good.error().message};
}

Result<std::string> read_password_file(const std::string& path) {
  const std::string named = "'" + printable(path) + "'";
  std::ifstream file(path, std::ios::binary);
  std::string line(kPasswordBytesMax + 3, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  if (file.bad() || (file.fail() && !file.eof()))
    return Error{ErrorCode::kUnavailable,
                 named + " cannot be read: check that it exists and its permissions"};
  line.resize(static_cast<std::size_t>(file.gcount()));
  line.resize(std::min(line.find('\n'), line.size()));
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) return invalid_argument(named + " has no password: its first line is empty");
  if (line.size() > kPasswordBytesMax || line.find('\0') != std::string::npos)
    return invalid_argument(named + ": a password must be one line of at most " +
                            std::to_string(kPasswordBytesMax) + " bytes, without null bytes");
  return line;
}

bool same_secret(std::string_view given, std::string_view secret) {
  // volatile: otherwise an optimiser could leave the loop once the result is known.
  volatile unsigned char difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    const auto bits = static_cast<unsigned char>(given[i] ^ other);
    difference = static_cast<unsigned char>(difference | bits);
  }
  return difference == 0;
}

}  // namespace heatsink
