// SPDX-License-Identifier: Apache-2.0
// Writes the history's file: appends, makes coarser columns, and keeps it within its bounds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "heatsink/base/units.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/history/database.h"
#include "heatsink/history/record.h"
#include "heatsink/history/roll_up.h"

namespace heatsink::history {

struct FileOptions {
  std::string path;
  Bytes maximum_size = mebibytes(256);
  std::chrono::seconds maximum_age = std::chrono::hours(90 * 24);
};

// Not thread-safe: one thread writes. Other processes may read at any time (WAL mode). A second
// writer is refused with kBusy until the first one has closed the file: a proxy that takes over
// waits for its predecessor so.
class HistoryFile {
 public:
  // Checks the whole file (about 1 s for 256 MiB on a slow disk), and creates it with mode 640, or
  // less by the umask, if it does not exist. The file of another program is not changed: kForeign.
  static Result<std::unique_ptr<HistoryFile>> open(const FileOptions& options, Failure& why);
  ~HistoryFile();
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;

  // All or nothing. Also makes the coarser columns of the steps that are over at `now`. A process
  // that is killed keeps what was appended; a machine that loses power, at least what was appended
  // 2 minutes before.
  std::optional<Failure> append(std::span<const Record> records, WallTime now);

  // Removes what is too old, and, above maximum_size, the oldest tenth of each tier and of the
  // events. Call it about once a minute. Ages are not counted up to `now`, but up to a time that
  // follows it by at most `believes` in each call: a clock that is a year ahead for an hour costs
  // the oldest ten hours, not everything.
  static constexpr std::chrono::seconds kBelieves = std::chrono::minutes(10);
  std::optional<Failure> trim(WallTime now, std::chrono::seconds believes = kBelieves);
  // As trim(), where the disk or the file is full: makes room whatever the size is.
  std::optional<Failure> make_room(WallTime now);

  std::uint64_t bytes() const;  // on the disk, with its log
  // False: the path names another file now, or none: what is written would be lost.
  bool is_in_place() const;

 private:
  explicit HistoryFile(FileOptions options) : options_(std::move(options)) {}

  std::optional<Failure> start();
  // Why the file must not be written, although it can be. `is_ours`: by its header.
  std::optional<Failure> look(bool is_ours);
  void write(const KeptEvent& event);
  void remove_before(std::int64_t step_s, std::int64_t before_s);
  void remove_oldest_tenth();
  void remove_names();
  bool is_too_big();
  std::optional<Failure> trim(WallTime now, std::chrono::seconds believes, bool must_shrink);
  void read_believed_time();
  std::int64_t believe(std::int64_t now_s, std::chrono::seconds believes);

  // A lock of its own on the file. POSIX drops SQLite's locks when any descriptor of the file is
  // closed, so this one is closed last.
  class Lock {
   public:
    ~Lock();
    int descriptor = -1;
  };

  const FileOptions options_;
  Lock lock_;
  std::unique_ptr<Database> database_;
  bool is_whole_ = false;  // it has tables and a log
  std::unique_ptr<ColumnWriter> columns_;
  std::unique_ptr<Statement> event_;
  std::int64_t rolled_up_at_ = 0;      // in tens of seconds
  std::int64_t names_removed_at_ = 0;  // in seconds
  // Up to which ages are counted, in seconds; 0: there is nothing older than this process.
  std::int64_t believed_s_ = 0;
};

}  // namespace heatsink::history
