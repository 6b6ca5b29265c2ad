// SPDX-License-Identifier: Apache-2.0
// A file descriptor with one owner.
#pragma once

#include <utility>

namespace heatsink::net {

// Owns a file descriptor. Movable. -1: none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = other.release();
    }
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void close();  // no effect on -1; remove it from its loop first

 private:
  int fd_ = -1;
};

}  // namespace heatsink::net
