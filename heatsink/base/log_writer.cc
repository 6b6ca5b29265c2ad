// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "heatsink/base/blocked_signals.h"
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

LogWriter::LogWriter(LogOutput output) : output_(std::move(output)) {}

LogWriter::~LogWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void LogWriter::add(LogLine line) {
  {
    const std::lock_guard lock(mutex_);
    queue_.add(std::move(line));
    if (!thread_.joinable()) start_thread();
  }
  work_.notify_one();
}

// If no thread can be started, lines wait, and the next line tries again.
void LogWriter::start_thread() {
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return;
  }
}

void LogWriter::set_output(LogOutput output) {
  const std::lock_guard lock(mutex_);
  std::swap(output_, output);  // the caller closes the old file, without the lock
}

bool LogWriter::flush(Nanos limit) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, limit, [this] { return queue_.empty() && !writing_; });
}

std::uint64_t LogWriter::dropped() const {
  const std::lock_guard lock(mutex_);
  return queue_.dropped();
}

std::size_t LogWriter::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return queue_.memory_bytes();
}

void LogWriter::run() {
  pthread_setname_np(pthread_self(), "log");
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const LogBatch batch = queue_.take();
    const LogOutput output = output_;
    writing_ = true;
    lock.unlock();
    std::vector<std::size_t> lost;
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      if (!output.file->write(to_text(batch.lines[i], output.format))) lost.push_back(i);
    }
    lock.lock();
    for (const std::size_t i : lost) queue_.lose(batch, i);
    writing_ = false;
    if (queue_.empty()) idle_.notify_all();
  }
}

}  // namespace heatsink
