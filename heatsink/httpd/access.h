// SPDX-License-Identifier: Apache-2.0
// Decides which requests may be answered: by the token that they carry, or by the host they name.
#pragma once

#include <optional>
#include <string_view>

namespace heatsink::httpd {

// Whether a request carries the token (RFC 6750, section 2.1). `authorization`: the one header of
// that name, as sent. The scheme's case does not matter (RFC 9110, section 11.1). Takes equally
// long wherever a token is wrong.
bool bears_token(std::optional<std::string_view> authorization, std::string_view token);

// Whether a request was meant for this machine by somebody on this machine: true for "localhost"
// and IP addresses, with or without a port. A web page can point a name of its own at 127.0.0.1 and
// read what listens there (DNS rebinding), but the browser then sends that name as Host.
bool is_trusted_host(std::string_view host_header);

}  // namespace heatsink::httpd
