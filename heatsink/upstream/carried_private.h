// SPDX-License-Identifier: Apache-2.0
// Describes a client's private connection to the server as one process gives it to another.
#pragma once

#include <cstdint>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// The stream itself goes along as a descriptor (carried_client.h).
struct CarriedPrivate {
  resp::Protocol protocol = resp::Protocol::kResp2;
  bool has_login = true;  // the proxy's
  bool knows_hello = true;
  std::uint32_t db = 0;
};

}  // namespace heatsink::proxy
