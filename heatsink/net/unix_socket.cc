// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include "heatsink/net/resolve.h"

namespace heatsink::net {
namespace {

Error listen_error(const std::string& path, ErrorCode code, const std::string& why) {
  return Error{code, "cannot listen on unix:" + path + ": " + why};
}

Error system_error(const std::string& path, int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS:
      return listen_error(path, ErrorCode::kPermission,
                          "permission to create a file there was denied; choose another directory");
    case ENOENT:
    case ENOTDIR:
      return listen_error(path, ErrorCode::kInvalidArgument,
                          "its directory does not exist; create it first");
    default:
      return listen_error(path, ErrorCode::kUnavailable,
                          std::system_category().message(error_number));
  }
}

Fd open_unix() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

// Two programs that start at once must not both find the same old file, so they check and replace
// it under a lock. The lock is on the folder: it ends with its descriptor and leaves no file
// behind.
Result<Fd> lock_folder(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return system_error(path, errno);
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) == 0) return opened;
  if (errno != EWOULDBLOCK) return system_error(path, errno);
  return listen_error(
      path, ErrorCode::kUnavailable,
      "another program holds a lock on its directory; try again, or choose a separate directory");
}

// Whether the path can be used: it does not exist, or is a socket without a listener.
Status check_free(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0)
    return errno == ENOENT ? Status(Unit{}) : Status(system_error(path, errno));
  if (!S_ISSOCK(found.st_mode))
    return listen_error(
        path, ErrorCode::kInvalidArgument,
        "a file that is not a socket exists there; remove it or choose another path");
  const Fd probe = open_unix();
  const ResolvedAddress address = unix_address(path);
  if (probe && ::connect(probe.get(), as_sockaddr(address), address.length) != 0 &&
      errno == ECONNREFUSED)
    return Unit{};
  return listen_error(path, ErrorCode::kUnavailable,
                      "another program uses it; stop that program or choose another path");
}

// Listens on a socket under a temporary name of this process, then renames it.
Status bind_under(const Fd& socket, const std::string& path, mode_t mode, int backlog) {
  const std::string name = path + ".~" + std::to_string(::getpid());
  static_cast<void>(::unlink(name.c_str()));  // of an earlier process with the same number
  const ResolvedAddress address = unix_address(name);
  const bool done = ::bind(socket.get(), as_sockaddr(address), address.length) == 0 &&
                    ::chmod(name.c_str(), mode) == 0 && ::listen(socket.get(), backlog) == 0 &&
                    ::rename(name.c_str(), path.c_str()) == 0;
  if (done) return Unit{};
  const int reason = errno;
  static_cast<void>(::unlink(name.c_str()));
  return system_error(path, reason);
}

}  // namespace

Result<mode_t> parse_file_mode(std::string_view text) {
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc{} || end != text.data() + text.size() || mode > 0777)
    return invalid_argument("file permissions must be three octal digits, as in 600 or 660");
  return static_cast<mode_t>(mode);
}

SocketFile::~SocketFile() {
  struct stat found {};
  const bool ours = !path_.empty() && ::lstat(path_.c_str(), &found) == 0 &&
                    found.st_dev == device_ && found.st_ino == inode_;
  if (ours) static_cast<void>(::unlink(path_.c_str()));
}

Result<UnixListener> listen_unix(const std::string& path, mode_t mode, std::size_t copies,
                                 int backlog) {
  const Result<Fd> lock = lock_folder(path);
  if (!lock.ok()) return lock.error();
  if (const Status free = check_free(path); !free.ok()) return free.error();
  UnixListener out;
  out.sockets.push_back(open_unix());
  if (!out.sockets.front()) return system_error(path, errno);
  if (const Status bound = bind_under(out.sockets.front(), path, mode, backlog); !bound.ok())
    return bound.error();
  struct stat made {};
  if (::lstat(path.c_str(), &made) != 0) return system_error(path, errno);
  out.file = SocketFile(path, made.st_dev, made.st_ino);
  while (out.sockets.size() < copies) {
    out.sockets.emplace_back(::fcntl(out.sockets.front().get(), F_DUPFD_CLOEXEC, 0));
    if (!out.sockets.back()) return system_error(path, errno);
  }
  return out;
}

}  // namespace heatsink::net
