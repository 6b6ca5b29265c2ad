// SPDX-License-Identifier: Apache-2.0
// Converts an address to the form of the system calls.
#pragma once

#include <sys/socket.h>

#include "heatsink/net/resolve.h"

namespace heatsink::net {

inline const sockaddr* as_sockaddr(const ResolvedAddress& address) {
  return reinterpret_cast<const sockaddr*>(address.bytes);
}

}  // namespace heatsink::net
