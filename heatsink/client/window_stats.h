// SPDX-License-Identifier: Apache-2.0
// Count, sum, mean, minimum, maximum and quantiles of the numbers that any number of processes add,
// over a sliding window that the server of server.url keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/client/errors.h"
#include "heatsink/client/options.h"

namespace heatsink::client {

__extension__ using WindowSum = __int128;  // exact: 2^64 numbers of 63 bits fit

// The statistics of all processes over the last `covered`. Count, sum, minimum and maximum are
// exact; quantiles are off by at most 1.6 % of the number.
struct WindowReading {
  std::uint64_t count = 0;
  WindowSum sum = 0;
  double mean = 0;                // 0 if there are no numbers
  std::int64_t min = 0, max = 0;  // 0 if there are no numbers
  std::int64_t p50 = 0, p90 = 0, p99 = 0, p999 = 0;
  Millis covered{0};  // the time that is covered: as asked for, or up to a slot less
  Millis slot{0};     // the step in which the window moves
  Millis length{0};   // how long the server keeps the numbers
  // How many of the 4 parts of the statistic could not be read, and why. Their numbers are missing.
  std::uint32_t shards_missing = 0;
  std::string problem;
};

// How many numbers, since the WindowStats was made; `refused` counts calls.
struct WindowCounts {
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;    // the server was away for longer than statistics.hold
  std::uint64_t uncertain = 0;  // the same, but the server may have counted them
  std::uint64_t refused = 0;    // one name too many, or a name too long
  std::uint64_t resent = 0;     // flushes; none of them counts twice
  std::uint64_t names = 0;      // now
};

// Sums the added numbers in the process and flushes them every statistics.flush-interval. Each
// number counts exactly once, however often a flush has to be sent again. If the process dies, the
// numbers of one interval are lost. A number's time is the server's clock when its flush arrives.
//
//   const heatsink::WindowStats stats(options);  // with options.server_url
//   stats.add("checkout:us", 1840);
//   stats.flush();
//   const auto minute = stats.read("checkout:us");  // of all processes: minute->p99
//
// Thread-safe. Cheap to copy; copies share everything. Adding never waits for the server. Do not
// use it in a forked child, or in destructors of thread_local objects.
class WindowStats {
 public:
  // Throws std::invalid_argument if server.url is not set, or if it or a file of server.tls-*
  // cannot be used. A server that is down is not an error.
  explicit WindowStats(const ClientOptions& options);

  // Takes about 9 ns, with names longer than 32 bytes 16 ns. Names are any bytes, at most 512.
  // False: one name more than statistics.maximum-names, or a name that is too long.
  bool add(std::string_view name, std::int64_t value) const noexcept;

  // One statistic, looked up once: adding takes about 5 ns. Must not outlive the WindowStats.
  class Series {
   public:
    void add(std::int64_t value) const noexcept;

   private:
    friend class WindowStats;
    Series(void* statistics, std::uint32_t id) : statistics_(statistics), id_(id) {}
    void* statistics_;
    std::uint32_t id_;
  };
  std::optional<Series> series(std::string_view name) const noexcept;

  // Reads the last `window` from the server, which has all flushed numbers; at most, and by
  // default, statistics.length. Empty: no process has written this name within its length. Throws
  // ServerError, ServerUnavailable.
  std::optional<WindowReading> read(std::string_view name,
                                    Nanos window = std::chrono::hours(24)) const;
  // The names that match a glob ("api:*"); in a cluster, those that one node has. Throws as read().
  std::vector<std::string> list(std::string_view pattern = "*") const;

  // Waits until all numbers added before are delivered; throws ServerUnavailable if they are not in
  // time.
  void flush(Nanos patience = std::chrono::seconds(5)) const;

  WindowCounts counts() const;
  // Why the last flush failed; "": it succeeded.
  std::string problem() const;

  // Flushes once more, for at most 1 s. Numbers that are added later are discarded. The destructor
  // of the last copy calls it, too.
  void close() const;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace heatsink::client
