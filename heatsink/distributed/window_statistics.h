// SPDX-License-Identifier: Apache-2.0
// A process's part in window statistics: numbers are added here at the price of a few nanoseconds,
// and the server has the sum of what all processes added.
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
  // For which the server keeps what was added, in kStatisticSlots steps; rounded up to as many
  // milliseconds each. All who write a statistic need the same.
  Nanos length = std::chrono::seconds(60);
  Nanos flush_interval = Millis(100);
  // Numbers that the server could not be told for so long are dropped; half of the length at most.
  Nanos hold = std::chrono::seconds(10);
  std::size_t names_max = 1000;  // statistics of this process; 6 KiB each, and 3 KiB a thread
  std::uint64_t seed = 0;        // of who this writer is: draw it at random, anew in each process
};

// Exactly once: a flush that was not answered is sent again with its number, by which the server
// knows it. What a process had not flushed when it died is lost: a flush interval's. Once started
// again it is another writer.
//
// Any thread may call; one thread of its own flushes. Not to be called, nor destroyed, by a child
// that this process has forked. Not to be used in destructors of thread_local objects.
class WindowStatistics {
 public:
  // `server` must outlive it; closing it first is fine.
  WindowStatistics(Server& server, const WindowStatisticsOptions& options);
  ~WindowStatistics();
  WindowStatistics(const WindowStatistics&) = delete;

  // Flushes once more, for kLastFlush at most. What is added later goes nowhere. The destructor
  // does it, too. Not to be called by two threads at once.
  void close();

  static constexpr Nanos kLastFlush = std::chrono::seconds(1);

  // About 9 ns, of names longer than 32 bytes 16. False: there are names_max others already, or the
  // name is longer than kStatisticNameBytesMax; it is counted as refused.
  bool add(std::string_view name, std::int64_t value) noexcept;

  // The same in two steps, for who adds to one statistic again and again: 5 ns. Nothing: refused.
  using Series = NumberLogs::Series;
  std::optional<Series> series(std::string_view name) noexcept;
  void add(Series series, std::int64_t value) noexcept { logs_.add(series, value); }

  // Until what was added before is delivered; the error says why it is not.
  Status flush(TimePoint deadline);

  struct Counts : StatisticOutbox::Counts {
    std::uint64_t refused = 0;  // calls
    std::uint64_t names = 0;    // now
  };
  Counts counts() const;
  // Why the last flush that was answered did not succeed; "": it did.
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
  std::unordered_map<std::string, Series> names_;  // names stay where they are
  std::vector<std::string> keys_;                  // by series
  std::uint64_t refused_ = 0;

  mutable std::mutex mutex_;  // guards the rest
  StatisticOutbox outbox_;
  std::size_t on_their_way_ = 0;  // parts
  std::uint64_t flushes_ = 0;     // that collected
  std::string problem_;
  bool is_ending_ = false;
  bool is_wanted_now_ = false;  // a flush
  std::condition_variable wake_;
  std::condition_variable answered_;
  std::thread thread_;
};

}  // namespace heatsink::distributed
