// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log_queue.h"

#include <string>
#include <utility>

namespace heatsink {
namespace {

// Control characters are escaped already; only JSON's own special characters remain.
std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string to_text(const LogLine& line, LogFormat format) {
  const std::string time = iso_time(line.at);
  const std::string level = to_string(line.level);
  if (format == LogFormat::kText) return time + " " + level + " " + line.message + "\n";
  return R"({"time":")" + time + R"(","level":")" + level + R"(","message":)" +
         json_string(line.message) + "}\n";
}

void LogQueue::add(LogLine line) {
  if (lines_.size() >= kLinesMax) return drop(line.at);
  lines_.push_back(std::move(line));
}

LogBatch LogQueue::take() {
  LogBatch batch;
  while (!lines_.empty() && batch.lines.size() < kBatchMax) {
    batch.lines.push_back(std::move(lines_.front()));
    lines_.pop_front();
  }
  if (!lines_.empty() || untold_ == 0) return batch;
  batch.told = std::exchange(untold_, 0);
  batch.lines.push_back(
      {LogLevel::kWarning, last_dropped_at_,
       "log lines dropped: " + std::to_string(batch.told) +
           ", because the log's reader was too slow or the file could not be written"});
  return batch;
}

std::size_t LogQueue::memory_bytes() const {
  std::size_t bytes = 0;
  for (const LogLine& line : lines_) bytes += sizeof(LogLine) + line.message.capacity();
  return bytes;
}

void LogQueue::lose(const LogBatch& batch, std::size_t i) {
  if (batch.told > 0 && i + 1 == batch.lines.size()) {
    untold_ += batch.told;
  } else {
    drop(batch.lines[i].at);
  }
}

void LogQueue::drop(WallTime at) {
  ++dropped_;
  ++untold_;
  last_dropped_at_ = at;
}

}  // namespace heatsink
