// SPDX-License-Identifier: Apache-2.0
// Listens on a Unix socket, and manages its file.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/fd.h"

namespace heatsink::net {

// Parses permissions in octal, as for chmod: "600", "0660"; at most 0777. Clients need the write
// permission to connect.
Result<mode_t> parse_file_mode(std::string_view text);

// Removes the socket's file on destruction, unless another file has replaced it. Movable.
class SocketFile {
 public:
  SocketFile() = default;
  SocketFile(std::string path, dev_t device, ino_t inode)
      : path_(std::move(path)), device_(device), inode_(inode) {}
  SocketFile(SocketFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}
  SocketFile& operator=(SocketFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
  }
  ~SocketFile();

  // Which file it is; zeros: none.
  dev_t device() const { return device_; }
  ino_t inode() const { return inode_; }
  void give_up() { path_.clear(); }  // another process removes it

 private:
  std::string path_;  // "": none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct UnixListener {
  // of one queue, which their owners share: SO_REUSEPORT works only for ports
  std::vector<Fd> sockets;
  SocketFile file;
};

// Listens with `copies` non-blocking descriptors. The file has its mode before any client can
// connect. A socket file left by a program that has ended is replaced atomically; nothing else is
// ever replaced. Errors: kUnavailable if another program listens there (or is about to),
// kInvalidArgument if the path is not a socket or its folder is missing, kPermission.
Result<UnixListener> listen_unix(const std::string& path, mode_t mode, std::size_t copies,
                                 int backlog = 1024);

}  // namespace heatsink::net
