// SPDX-License-Identifier: Apache-2.0
// A service manager's end of the notify socket, for tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

namespace heatsink::app {

inline std::string notify_path(const std::string& test) {
  return ::testing::TempDir() + "heatsink-notify-" + test;
}

// Listens at `address`, "/path" or "@name", which no other test may use.
class NotifySocket {
 public:
  explicit NotifySocket(std::string address)
      : address_(std::move(address)), descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un bound{};
    bound.sun_family = AF_UNIX;
    address_.copy(bound.sun_path, sizeof(bound.sun_path) - 1);
    std::size_t size = offsetof(sockaddr_un, sun_path) + address_.size();
    if (address_[0] == '@') bound.sun_path[0] = '\0';
    if (address_[0] == '/') ++size;
    std::filesystem::remove(address_);
    EXPECT_EQ(
        bind(descriptor_, reinterpret_cast<const sockaddr*>(&bound), static_cast<socklen_t>(size)),
        0);
    const timeval patience{60, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~NotifySocket() {
    close(descriptor_);
    if (address_[0] == '/') std::filesystem::remove(address_);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  const std::string& address() const { return address_; }

  // The next message; waits for it. "": none came within a minute.
  std::string next() const { return receive(0); }
  // The next message; "": none is there.
  std::string next_if_there() const { return receive(MSG_DONTWAIT); }

 private:
  std::string receive(int flags) const {
    std::array<char, 4096> buffer{};
    const ssize_t size = recv(descriptor_, buffer.data(), buffer.size(), flags);
    return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : "";
  }

  const std::string address_;
  const int descriptor_;
};

}  // namespace heatsink::app
