// SPDX-License-Identifier: Apache-2.0
// The one way all responders of this folder write, so that they differ in nothing but their loop.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

namespace heatsink::bench {

// All of it in one send() as a rule; waits when the socket is full. False when the peer is gone.
inline bool blocking_send(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd poll{fd, POLLOUT, 0};
      ::poll(&poll, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace heatsink::bench
