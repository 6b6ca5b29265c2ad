// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/fatal.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace heatsink::net {

void die_of_errno(const char* call) {
  const std::string reason = std::system_category().message(errno);
  std::fprintf(stderr, "heatsink: %s failed: %s; a worker cannot run without it (see ulimit -n)\n",
               call, reason.c_str());
  std::abort();
}

}  // namespace heatsink::net
