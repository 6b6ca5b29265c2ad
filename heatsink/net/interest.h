// SPDX-License-Identifier: Apache-2.0
// Defines what a connection waits for, and the handler of its events.
#pragma once

#include <cstdint>

namespace heatsink::net {

enum class Interest : std::uint32_t { kNone = 0, kRead = 1, kWrite = 4, kReadWrite = 5 };

constexpr bool includes(Interest all, Interest one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

// Receives the readiness of one file descriptor. Level-triggered.
class FdHandler {
 public:
  virtual void on_readable() = 0;
  virtual void on_writable() = 0;
  // EPOLLHUP or EPOLLERR while the handler may not read or cannot write: the peer is gone. Also
  // called with interest kNone, in each turn until the fd is removed. The default treats it as
  // readable, so that read() returns the error.
  virtual void on_hangup() { on_readable(); }

 protected:
  ~FdHandler() = default;
};

}  // namespace heatsink::net
