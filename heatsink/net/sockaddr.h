// SPDX-License-Identifier: Apache-2.0
// An address as the system calls take it.
#pragma once

#include <sys/socket.h>

#include "heatsink/net/resolve.h"

namespace heatsink::net {

inline const sockaddr* as_sockaddr(const ResolvedAddress& address) {
  return reinterpret_cast<const sockaddr*>(address.bytes);
}

}  // namespace heatsink::net
