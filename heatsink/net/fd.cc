// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/fd.h"

#include <unistd.h>

namespace heatsink::net {

void Fd::close() {
  // Linux frees the number even if close() returns EINTR: a second close() could hit another file.
  if (fd_ >= 0) ::close(release());
}

}  // namespace heatsink::net
