// SPDX-License-Identifier: Apache-2.0
// Queues log lines for writing. If the log is too slow, lines are dropped and counted: threads that
// log never wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/base/wall_time.h"

namespace heatsink {

// `message` is one line of valid UTF-8 without control characters, as one_line() makes it.
struct LogLine {
  LogLevel level;
  WallTime at;
  std::string message;
};

// One line with its line feed. kText: "2026-11-21T12:00:00.123Z warning the message". kJson: an
// object with the members time, level and message, in this order.
std::string to_text(const LogLine& line, LogFormat format);

// The next lines to write. If `told` > 0, the last line of the batch reports that many dropped
// lines.
struct LogBatch {
  std::vector<LogLine> lines;
  std::uint64_t told = 0;
};

// Not thread-safe. At most kLinesMax lines, so about 2 MiB (kLogBytesMax each).
class LogQueue {
 public:
  static constexpr std::size_t kLinesMax = 1024;
  static constexpr std::size_t kBatchMax = 64;

  void add(LogLine line);  // drops the line when the queue is full

  // The oldest lines, at most kBatchMax. When the queue becomes empty, the batch also reports
  // dropped lines, once.
  LogBatch take();

  // Line `i` of the batch could not be written.
  void lose(const LogBatch& batch, std::size_t i);

  bool empty() const { return lines_.empty(); }
  std::size_t memory_bytes() const;                   // approximate; O(lines)
  std::uint64_t dropped() const { return dropped_; }  // dropped or lost, since the start

 private:
  void drop(WallTime at);

  std::deque<LogLine> lines_;
  std::uint64_t dropped_ = 0;
  std::uint64_t untold_ = 0;  // part of `dropped_` that no line has reported
  WallTime last_dropped_at_{};
};

}  // namespace heatsink
