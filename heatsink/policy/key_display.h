// SPDX-License-Identifier: Apache-2.0
// Chooses how key names are shown in the log, the API, the events and `heatsink top`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/detect/detect.h"

namespace heatsink::policy {

struct ProxyOptions;

// The only code that turns a key name into shown text (privacy.redact-keys). Immutable, so any
// thread may use it. A redacted name is its HMAC-SHA-256 (RFC 2104), cut to 64 bits. A plain hash
// could be reversed by trying names as regular as "user:42"; the HMAC cannot, without the secret.
class KeyDisplay {
 public:
  KeyDisplay() = default;  // shows names unchanged
  // Shows "key#" and 16 hexadecimal digits. Processes with the same secret show the same text.
  static KeyDisplay hashed(std::string secret);

  bool redacts() const { return !secret_.empty(); }
  static bool is_redacted(std::string_view shown);  // whether it looks like a redacted name
  std::string show(std::string_view name) const;
  void hide(detect::KeyCount& count) const;  // replaces the name, if names are redacted

 private:
  std::string hash(std::string_view bytes) const;

  std::string secret_;  // "": names are not redacted
};

// As privacy.redact-keys says. Error: its secret file cannot be read.
Result<KeyDisplay> key_display_of(const ProxyOptions& options);
std::string random_secret();  // 32 bytes from the system's random generator

}  // namespace heatsink::policy
