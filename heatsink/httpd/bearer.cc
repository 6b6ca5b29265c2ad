// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/bearer.h"

#include <algorithm>
#include <cctype>

#include "heatsink/base/secret_file.h"

namespace heatsink::httpd {

bool bears_token(std::optional<std::string_view> authorization, std::string_view token) {
  constexpr std::string_view kScheme = "bearer ";
  if (!authorization || authorization->size() < kScheme.size()) return false;
  const bool bearer =
      std::equal(kScheme.begin(), kScheme.end(), authorization->begin(),
                 [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  return bearer && same_secret(authorization->substr(kScheme.size()), token);
}

}  // namespace heatsink::httpd
