// SPDX-License-Identifier: Apache-2.0
// Adds numbers to window statistics at a cost of a few nanoseconds; the server has the sum of all
// processes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/number_logs.h"
#include "heatsink/distributed/server.h"
#include "heatsink/distributed/statistic_outbox.h"

namespace heatsink::distributed {

struct WindowStatisticsOptions {
  // How long the server keeps numbers, in kStatisticSlots steps of whole milliseconds (rounded up).
  // All writers of a statistic need the same.
  Nanos length = std::chrono::seconds(60);
  Nanos flush_interval = Millis(100);
  // Numbers that could not be delivered for this long are dropped; at most half of the length.
  Nanos hold = std::chrono::seconds(10);
  std::size_t names_max = 1000;  // statistics of this process; 6 KiB each, and 3 KiB per thread
  std::uint64_t seed = 0;        // identifies this writer: draw it at random, anew in each process
};

// Each number counts exactly once: a flush without an answer is sent again with its sequence, which
// the server recognises. If a process dies, the numbers since its last flush are lost. A restarted
// process is a new writer.
//
// Thread-safe; one thread of its own flushes. A forked child must neither call nor destroy it. Do
// not use it in destructors of thread_local objects.
class WindowStatistics {
 public:
  // `server` must outlive it, but may be closed first.
  WindowStatistics(Server& server, const WindowStatisticsOptions& options);
  ~WindowStatistics();
  WindowStatistics(const WindowStatistics&) = delete;

  // Flushes once more, for at most kLastFlush, and ignores numbers added later. The destructor
  // calls it, too. Two threads must not call it at once.
  void close();

  static constexpr Nanos kLastFlush = std::chrono::seconds(1);

  // About 9 ns; 16 ns for names longer than 32 bytes. False: there are names_max other names
  // already, or the name is longer than kStatisticNameBytesMax; the call then counts as refused.
  bool add(std::string_view name, std::int64_t value) noexcept;

  // record() in two steps, for repeated adds to one statistic: 5 ns. Nothing: refused.
  using Series = NumberLogs::Series;
  std::optional<Series> series(std::string_view name) noexcept;
  void add(Series series, std::int64_t value) noexcept { logs_.add(series, value); }

  // Waits until all earlier numbers are delivered; an error says why they are not.
  Status flush(TimePoint deadline);

  struct Counts : StatisticOutbox::Counts {
    std::uint64_t refused = 0;  // calls
    std::uint64_t names = 0;    // now
  };
  Counts counts() const;
  // The error of the last answered flush; "": it succeeded.
  std::string problem() const;

 private:
  struct Name {
    Series series;
    std::string key;  // on the server
  };

  std::optional<Series> learn(std::string_view name, NumberLogs::Here here);
  std::optional<Series> look_up(std::string_view name);
  void run();
  void flush_once(std::unique_lock<std::mutex>& lock);
  void on_reply(Series series, std::uint64_t sequence, const Result<resp::Value>& reply);

  Server& server_;
  const WindowStatisticsOptions options_;
  const std::string writer_;
  const std::uint32_t shard_;
  NumberLogs logs_;

  mutable std::mutex names_mutex_;
  std::unordered_map<std::string, Series> names_;  // the addresses of names stay valid
  std::vector<std::string> keys_;                  // by series
  std::uint64_t refused_ = 0;

  mutable std::mutex mutex_;  // guards the rest
  StatisticOutbox outbox_;
  std::size_t on_their_way_ = 0;  // parts
  std::uint64_t flushes_ = 0;     // that collected numbers
  std::string problem_;
  bool is_ending_ = false;
  bool is_wanted_now_ = false;  // a flush is requested
  std::condition_variable wake_;
  std::condition_variable answered_;
  std::thread thread_;
};

}  // namespace heatsink::distributed
