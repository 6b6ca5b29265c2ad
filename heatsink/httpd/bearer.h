// SPDX-License-Identifier: Apache-2.0
// Whether a request bears the token (RFC 6750, section 2.1).
#pragma once

#include <optional>
#include <string_view>

namespace heatsink::httpd {

// `authorization`: the one header of that name, as sent. The scheme's case does not matter (RFC
// 9110, section 11.1). Takes equally long wherever a token is wrong.
bool bears_token(std::optional<std::string_view> authorization, std::string_view token);

}  // namespace heatsink::httpd
