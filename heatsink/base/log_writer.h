// SPDX-License-Identifier: Apache-2.0
// The thread that writes the log, so that no other thread ever waits for the log's file.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "heatsink/base/clock.h"
#include "heatsink/base/log_file.h"
#include "heatsink/base/log_queue.h"

namespace heatsink {

struct LogOutput {
  std::shared_ptr<const LogFile> file;
  LogFormat format = LogFormat::kText;
};

// Thread-safe. The thread starts with the first line and blocks all signals. The mutex is held for
// a few instructions and never around a write. Not to be used in the child of a fork(): the thread
// is not there.
class LogWriter {
 public:
  explicit LogWriter(LogOutput output);
  ~LogWriter();  // waits until the file has taken, or refused, every line
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  void add(LogLine line);             // never waits for the file
  void set_output(LogOutput output);  // of lines that are not being written already

  // Waits until all that was added is written, at most `limit`; whether it is.
  bool flush(Nanos limit);

  std::uint64_t dropped() const;

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
