// SPDX-License-Identifier: Apache-2.0
// Where the password of a server comes from, when it does not stand in the URL.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/policy/options.h"

namespace heatsink::app {

// The proxy's variable, and that of the verbs that look at a server (redis-cli has it, too).
inline constexpr const char* kUpstreamVariable = "HEATSINK_UPSTREAM_PASSWORD";
inline constexpr const char* kCliVariable = "REDISCLI_AUTH";
inline constexpr std::array kPasswordVariables = {kUpstreamVariable, kCliVariable};

// A URL as it was given, with this password in it. REQUIRES that parse_redis_url() takes the URL,
// and that it has no password; an empty one leaves it as it is.
std::string with_password(const std::string& url, std::string_view password);

// Puts the password of upstream.password-file into upstream.url; without that option the one of the
// environment, if the URL has none. REQUIRES options without contradictions(). The error names the
// option and the file.
Status take_password(policy::ProxyOptions& options);

}  // namespace heatsink::app
