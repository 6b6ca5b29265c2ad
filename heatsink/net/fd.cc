// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/fd.h"

#include <unistd.h>

namespace heatsink::net {

void Fd::close() {
  // Linux frees the number even when close() says EINTR: asking again could close somebody else's.
  if (fd_ >= 0) ::close(release());
}

}  // namespace heatsink::net
