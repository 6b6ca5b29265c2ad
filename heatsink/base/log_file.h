// SPDX-License-Identifier: Apache-2.0
// The destination of the log: the standard error output, or a file that is appended to.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"

namespace heatsink {

// Closes the descriptor that it opened. write() may block; nothing else does for long.
class LogFile {
 public:
  static std::shared_ptr<const LogFile> standard_error();
  static std::shared_ptr<const LogFile> of(int fd);  // stays the caller's
  // Made if it is not there (mode 640), and appended to. The error says what to do.
  static Result<std::shared_ptr<const LogFile>> open(const std::string& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // False: the file does not take it (the disk is full, a pipe has no reader); a part may be there.
  // Waits as long as the descriptor wants.
  bool write(std::string_view text) const;

 private:
  LogFile(int fd, bool owned) : fd_(fd), owned_(owned) {}

  const int fd_;
  const bool owned_;
};

}  // namespace heatsink
