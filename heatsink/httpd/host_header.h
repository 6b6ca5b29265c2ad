// SPDX-License-Identifier: Apache-2.0
// Whether a request was meant for this machine by someone on this machine.
#pragma once

#include <string_view>

namespace heatsink::httpd {

// True for "localhost" and IP addresses, with or without a port. A web page can point a name of its
// own at 127.0.0.1 and read what listens there (DNS rebinding), but the browser then sends that
// name as Host.
bool is_trusted_host(std::string_view host_header);

}  // namespace heatsink::httpd
