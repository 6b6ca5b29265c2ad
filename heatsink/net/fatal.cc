// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/fatal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "heatsink/base/timed_write.h"

namespace heatsink::net {

void die_of_errno(const char* call) {
  const std::string reason = std::system_category().message(errno);
  write_within(STDERR_FILENO,
               std::string("heatsink: ") + call + " failed: " + reason +
                   "; a worker cannot run without it: raise ulimit -n\n",
               Millis(100));
  std::abort();
}

}  // namespace heatsink::net
