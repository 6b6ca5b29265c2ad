// SPDX-License-Identifier: Apache-2.0
// What is shown of a key's name: in the log, the API, the events and so in `heatsink top`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/detect/detect.h"

namespace heatsink::policy {

// The one place that turns a name into what people see (privacy.redact-keys). Immutable: any
// thread. HMAC-SHA-256 (RFC 2104), cut to 64 bits: without the secret nobody can try out names,
// which a plain hash of names as regular as "user:42" would allow.
class KeyDisplay {
 public:
  KeyDisplay() = default;  // names as they are
  // "key#" and 16 hexadecimal digits; the same secret gives the same, in every process.
  static KeyDisplay hashed(std::string secret);

  bool redacts() const { return !secret_.empty(); }
  std::string show(std::string_view name) const;
  void hide(detect::KeyCount& count) const;  // its name, if names are redacted

 private:
  std::string hash(std::string_view bytes) const;

  std::string secret_;  // "": none
};

std::string random_secret();  // 32 bytes of the machine's generator

}  // namespace heatsink::policy
