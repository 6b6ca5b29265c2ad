// SPDX-License-Identifier: Apache-2.0
// Writes the history on a thread of its own, so that no other thread waits for the disk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/metric.h"
#include "heatsink/history/file.h"
#include "heatsink/history/mailbox.h"

namespace heatsink::history {

// Thread-safe. add() takes a lock for a moment and never waits for the disk. The thread writes once
// a second, so that a process that is killed loses at most its last two seconds, and sleeps while
// nothing is added. What cannot be written waits, up to Mailbox::kBytesMax, while the thread tries
// again with growing pauses; the log says when that begins and ends.
class Writer {
 public:
  explicit Writer(FileOptions options);
  ~Writer();  // end()
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(Record record);
  // Writes what waits, once, joins the thread and closes the file, so that another process can
  // write it; add() does nothing afterwards. One thread calls it.
  void end();

  // Why the history is not being written, and what to do; "": it is.
  struct Problem {
    std::string what, mend;
  };
  Problem problem() const;
  // Writes now, and waits at most `limit` until all that was added is written; returns whether it
  // is.
  bool flush(Nanos limit);

  MetricSamples samples() const;
  static MetricRows metric_rows();

  static constexpr Nanos kBatch = std::chrono::seconds(1);
  static constexpr Nanos kRetryMin = std::chrono::seconds(1);
  static constexpr Nanos kRetryMax = std::chrono::seconds(30);
  static constexpr Nanos kTrimEvery = std::chrono::minutes(1);
  // A process that hands over writes until the next one serves; only after this time it is a
  // problem.
  static constexpr Nanos kPredecessor = std::chrono::minutes(1);

 private:
  void run();
  std::optional<Failure> write(const std::vector<Record>& batch);
  std::optional<Failure> open();
  std::optional<Failure> set_damaged_aside(const Failure& failure);
  void trim_if_due();
  bool is_problem(const Failure& failure);
  void begin_problem(const Failure& failure);
  void end_problem();
  void end_without_success();

  const FileOptions options_;

  // The thread's.
  std::unique_ptr<HistoryFile> file_;
  TimePoint trim_at_{};
  std::optional<TimePoint> busy_since_;  // another process writes the file

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable work_;
  std::condition_variable idle_;
  Mailbox mailbox_;
  bool writing_ = false;
  bool ending_ = false;
  bool hurries_ = false;  // somebody waits in flush()
  Problem problem_;
  Mailbox::Counts lost_before_;  // when the problem began
  std::uint64_t file_bytes_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t set_aside_ = 0;
  Nanos busy_{0};  // CPU time of the thread

  std::thread thread_;
};

}  // namespace heatsink::history
