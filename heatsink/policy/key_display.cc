// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/key_display.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "heatsink/base/secret_file.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {
namespace {

constexpr std::size_t kShownBytes = 8;
constexpr std::string_view kPrefix = "key#";

}  // namespace

KeyDisplay KeyDisplay::hashed(std::string secret) {
  assert(!secret.empty());
  KeyDisplay display;
  display.secret_ = std::move(secret);
  return display;
}

bool KeyDisplay::is_redacted(std::string_view shown) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return shown.starts_with(kPrefix) && shown.size() == kPrefix.size() + 2 * kShownBytes &&
         std::ranges::all_of(shown.substr(kPrefix.size()), is_digit);
}

std::string KeyDisplay::show(std::string_view name) const {
  return redacts() ? hash(name) : std::string(name);
}

// Two long names may have the same kept prefix. The digest tells them apart, so it is hashed too.
void KeyDisplay::hide(detect::KeyCount& count) const {
  if (!redacts()) return;
  std::string whole = count.key;
  if (count.key_truncated) whole += '\0' + std::to_string(count.digest);
  count.key = hash(whole);
  count.key_truncated = false;
}

std::string KeyDisplay::hash(std::string_view bytes) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const unsigned char* const done = HMAC(
      EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(), &size);
  // HMAC fails only without memory. Then the process aborts, because a plain name must never
  // appear.
  if (done == nullptr) std::abort();
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(kPrefix);
  for (std::size_t i = 0; i < kShownBytes; ++i) {
    out += kDigits[digest[i] >> 4];
    out += kDigits[digest[i] & 15];
  }
  return out;
}

std::string random_secret() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) std::abort();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<KeyDisplay> key_display_of(const ProxyOptions& options) {
  if (options.redact_keys == RedactKeys::kOff) return KeyDisplay();
  if (options.redact_secret_file.empty()) return KeyDisplay::hashed(random_secret());
  Result<std::string> secret = read_secret_file(options.redact_secret_file);
  if (!secret.ok()) return secret.error();
  return KeyDisplay::hashed(std::move(secret).value());
}

}  // namespace heatsink::policy
