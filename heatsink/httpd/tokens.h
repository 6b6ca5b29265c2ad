// SPDX-License-Identifier: Apache-2.0
// Holds who may ask an HTTP server, and who may also give orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"

namespace heatsink::httpd {

// A viewer may look (GET, HEAD); an operator may also give orders (POST).
enum class Role : std::uint8_t { kViewer, kOperator };

struct Bearer {
  std::string name;  // "": the only one
  Role role = Role::kOperator;
  std::string token;
  friend bool operator==(const Bearer&, const Bearer&) = default;
};

// A plain value. Empty: no token is required.
class Tokens {
 public:
  static constexpr std::size_t kTokensMax = 64;
  static constexpr std::size_t kNameBytesMax = 64;

  Tokens() = default;
  // The token of one operator; "": none is required.
  Tokens(std::string_view token);                                        // NOLINT: implicit
  Tokens(const std::string& token) : Tokens(std::string_view(token)) {}  // NOLINT: implicit
  Tokens(const char* token) : Tokens(std::string_view(token)) {}         // NOLINT: implicit

  // The text of a file: one token alone, or a line "viewer NAME TOKEN" or "operator NAME TOKEN" for
  // each. Lines that are empty or begin with # are skipped. Errors name the line, and have no
  // token.
  static Result<Tokens> parse(std::string_view text);

  bool empty() const { return bearers_.empty(); }
  // Who sends this header (RFC 6750, section 2.1; the only one of its name); null: nobody known.
  // Compares with all tokens, each in constant time.
  const Bearer* find(std::optional<std::string_view> authorization) const;

  friend bool operator==(const Tokens&, const Tokens&) = default;

 private:
  std::vector<Bearer> bearers_;
};

}  // namespace heatsink::httpd
