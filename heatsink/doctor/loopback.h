// SPDX-License-Identifier: Apache-2.0
// Tells whether other machines can reach a listening address.
#pragma once

#include <string_view>

namespace heatsink::doctor {

// `address`: host:port or unix:/path, as options have it. A name other than localhost counts as
// reachable, and so does what cannot be parsed.
bool listens_beyond_loopback(std::string_view address);

}  // namespace heatsink::doctor
