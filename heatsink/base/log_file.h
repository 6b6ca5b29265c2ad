// SPDX-License-Identifier: Apache-2.0
// Writes the log to its destination: the standard error output, or a file that it appends to.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"

namespace heatsink {

// Closes a descriptor that it opened. write() may block; the other functions do not block for long.
class LogFile {
 public:
  static std::shared_ptr<const LogFile> standard_error();
  static std::shared_ptr<const LogFile> of(int fd);  // the caller keeps the descriptor
  // Creates the file if necessary (mode 640), and appends to it. The error says what to do.
  static Result<std::shared_ptr<const LogFile>> open(const std::string& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // False: the file does not accept the text (the disk is full, a pipe has no reader); a part may
  // be written. Blocks as long as the descriptor does.
  bool write(std::string_view text) const;

 private:
  LogFile(int fd, bool owned) : fd_(fd), owned_(owned) {}

  const int fd_;
  const bool owned_;
};

}  // namespace heatsink
