// SPDX-License-Identifier: Apache-2.0
// The Unix socket that a program listens on, and its file.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/fd.h"

namespace heatsink::net {

// "600", "0660": permissions as chmod takes them in octal; no more than 0777. Connecting needs the
// right to write.
Result<mode_t> parse_file_mode(std::string_view text);

// Removes the file of a socket when it dies, unless another one is there by then. Movable.
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

 private:
  std::string path_;  // "": none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct UnixListener {
  std::vector<Fd> sockets;  // of one queue, which their owners share: SO_REUSEPORT is for ports
  SocketFile file;
};

// Listens with `copies` descriptors, non-blocking. The file has its mode before anybody can
// connect. Where a socket file is left over from a program that has ended, it is replaced in one
// step; nothing else is ever replaced. Errors: kUnavailable when somebody listens there (or is
// about to), kInvalidArgument when something else is at the path or its folder is missing,
// kPermission.
Result<UnixListener> listen_unix(const std::string& path, mode_t mode, std::size_t copies,
                                 int backlog = 1024);

}  // namespace heatsink::net
