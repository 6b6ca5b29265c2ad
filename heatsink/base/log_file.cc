// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "heatsink/base/printable.h"

namespace heatsink {

std::shared_ptr<const LogFile> LogFile::standard_error() { return of(STDERR_FILENO); }

std::shared_ptr<const LogFile> LogFile::of(int fd) {
  return std::shared_ptr<const LogFile>(new LogFile(fd, false));
}

// O_NONBLOCK: a pipe without a reader is an error instead of a wait.
Result<std::shared_ptr<const LogFile>> LogFile::open(const std::string& path) {
  constexpr int kHow = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int fd = ::open(path.c_str(), kHow, 0640);
  if (fd >= 0) return std::shared_ptr<const LogFile>(new LogFile(fd, true));
  const std::string why = errno == ENXIO ? "no program is reading from this pipe"
                                         : std::system_category().message(errno);
  return Error{ErrorCode::kUnavailable, "cannot open the log file '" + printable(path) +
                                            "': " + why +
                                            "; check that its directory exists and is writable"};
}

LogFile::~LogFile() {
  if (owned_) close(fd_);
}

bool LogFile::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      pollfd ready{fd_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace heatsink
