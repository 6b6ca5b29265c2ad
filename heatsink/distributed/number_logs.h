// SPDX-License-Identifier: Apache-2.0
// Collects numbers from many threads and sums them by series.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "heatsink/distributed/known_names.h"
#include "heatsink/stats/stats.h"

namespace heatsink::distributed {

// Each thread writes to a log of its own: 17 KiB, which end with the thread, and a stats::Summary
// for each series that it uses. The thread sums a full log; collect() sums the rest. So no number
// is lost, and threads share no data.
class NumberLogs {
 public:
  using Series = std::uint32_t;

  // `secret`: for KnownNames.
  explicit NumberLogs(std::uint64_t secret = 0);
  ~NumberLogs();  // REQUIRES that no thread calls add() any more
  NumberLogs(const NumberLogs&) = delete;

  // Thread-safe; 2 ns, plus 3 ns for the sum. May wait some microseconds while collect() reads this
  // thread's log. Series should be small numbers: a thread has 8 bytes for each up to its largest.
  void add(Series series, std::int64_t value) noexcept { this_threads().push({value, series}); }

  // This thread's log, for several operations in a row; valid while the thread lives.
  class Here;
  Here here() noexcept;

  // Passes on all numbers that were added before this call and not collected yet. One thread at a
  // time.
  void collect(const std::function<void(Series, const stats::Summary&)>& tell);

 private:
  static constexpr std::uint32_t kEntries = 1024;

  struct Entry {
    std::int64_t value;
    Series series;
  };
  struct Log {
    explicit Log(std::uint64_t secret) : known(secret) {}

    void push(const Entry& entry) noexcept {
      const std::uint32_t at = pushed.load(std::memory_order_relaxed);
      if (at - seen_taken == kEntries) [[unlikely]]
        make_room();
      entries[at % kEntries] = entry;
      pushed.store(at + 1, std::memory_order_release);
    }
    void make_room() noexcept;
    void sum();  // REQUIRES the mutex
    stats::Summary& of(Series series);

    // Used by the owning thread. Other threads read entries only below `pushed`.
    std::atomic<std::uint32_t> pushed{0};
    std::uint32_t seen_taken = 0;
    std::array<Entry, kEntries> entries;
    KnownNames known;  // name to series

    std::mutex mutex;  // guards the rest
    std::uint32_t taken = 0;
    std::vector<std::unique_ptr<stats::Summary>> sums;  // by series
    std::vector<Series> touched;                        // those that are not empty
    std::atomic<bool> has_ended{false};                 // the thread has ended
  };
  struct Logs;  // of one thread

  Log& this_threads() noexcept {
    const Last& last = last_used;
    return last.owner == id_ ? *last.log : find_log();
  }
  Log& find_log() noexcept;

  // The log used last by this thread. Ids are never reused; 0: none.
  struct Last {
    std::uint64_t owner = 0;
    Log* log = nullptr;
  };
  static thread_local constinit Last last_used;

  const std::uint64_t id_;
  const std::uint64_t secret_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Log>> logs_;  // guarded by mutex_
};

class NumberLogs::Here {
 public:
  void add(Series series, std::int64_t value) const noexcept { log_.push({value, series}); }
  KnownNames& known() const noexcept { return log_.known; }

 private:
  friend class NumberLogs;
  explicit Here(Log& log) : log_(log) {}
  Log& log_;
};

inline NumberLogs::Here NumberLogs::here() noexcept { return Here(this_threads()); }

}  // namespace heatsink::distributed
