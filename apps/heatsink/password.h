// SPDX-License-Identifier: Apache-2.0
// Finds the password of a server if its URL has none.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/policy/options.h"

namespace heatsink::app {

// The variable of the proxy, and that of verbs that observe a server (the same as redis-cli's).
inline constexpr const char* kUpstreamVariable = "HEATSINK_UPSTREAM_PASSWORD";
inline constexpr const char* kCliVariable = "REDISCLI_AUTH";
inline constexpr std::array kPasswordVariables = {kUpstreamVariable, kCliVariable};

// The URL with this password added. REQUIRES a URL that parse_upstream_url() accepts and that has
// no password. An empty password leaves it unchanged.
std::string with_password(const std::string& url, std::string_view password);

// Puts the password of upstream.password-file into upstream.url; without that option, the one of
// the environment if the URL has none. Reads upstream.sentinel-password-file, too. REQUIRES options
// without contradictions(). Errors name the option and the file.
Status take_password(policy::ProxyOptions& options);

}  // namespace heatsink::app
