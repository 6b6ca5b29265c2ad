// SPDX-License-Identifier: Apache-2.0
// Decides which requests are answered: by their token, or by the host they name.
#pragma once

#include <optional>
#include <string_view>

namespace heatsink::httpd {

// Whether a request carries the token (RFC 6750, section 2.1). `authorization`: the only header of
// that name, as sent. Ignores the scheme's case (RFC 9110, section 11.1). Takes the same time
// wherever a token is wrong.
bool bears_token(std::optional<std::string_view> authorization, std::string_view token);

// Whether a request was meant for this machine by a client on this machine: true for "localhost"
// and IP addresses, with or without a port. A web page can point its own name at 127.0.0.1 and read
// what listens there (DNS rebinding), but the browser then sends that name as Host.
bool is_trusted_host(std::string_view host_header);

}  // namespace heatsink::httpd
