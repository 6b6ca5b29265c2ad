// SPDX-License-Identifier: Apache-2.0
// Writes the log on a thread of its own, so that other threads never wait for its file.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "heatsink/base/clock.h"
#include "heatsink/base/log_queue.h"
#include "heatsink/base/result.h"

namespace heatsink {

// The log's destination: the standard error output, or a file that it appends to. Closes a
// descriptor that it opened. write() may block; the other functions do not block for long.
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

struct LogOutput {
  std::shared_ptr<const LogFile> file;
  LogFormat format = LogFormat::kText;
};

// Thread-safe. The thread starts with the first line and blocks all signals. The mutex is held only
// for a few instructions, never during a write. Must not be used in the child of a fork(), where
// the thread does not exist.
class LogWriter {
 public:
  explicit LogWriter(LogOutput output);
  ~LogWriter();  // waits until all lines are written or refused
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  void add(LogLine line);             // never waits for the file
  void set_output(LogOutput output);  // for lines that are not being written yet

  // Waits at most `limit` until all added lines are written; returns whether they are.
  bool flush(Nanos limit);

  std::uint64_t dropped() const;
  std::size_t waiting_bytes() const;

 private:
  void start_thread();  // REQUIRES the lock
  void run();

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable work_;
  std::condition_variable idle_;
  LogOutput output_;
  LogQueue queue_;
  bool writing_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace heatsink
