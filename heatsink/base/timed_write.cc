// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/timed_write.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace heatsink {

// A writable pipe accepts PIPE_BUF bytes without blocking (pipe(7)).
bool write_within(int fd, std::string_view text, Millis limit) noexcept {
  while (!text.empty()) {
    pollfd ready{fd, POLLOUT, 0};
    const int found = poll(&ready, 1, static_cast<int>(limit.count()));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0 || (ready.revents & POLLOUT) == 0) return false;
    const ssize_t written = write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    }
  }
  return true;
}

}  // namespace heatsink
