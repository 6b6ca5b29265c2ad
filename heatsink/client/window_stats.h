// SPDX-License-Identifier: Apache-2.0
// Statistics over a sliding window of what any number of processes add: count, sum, mean, extremes
// and quantiles, kept by the server of server.url.
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

// What all processes have added, over the last so long. Count, sum and extremes are exact,
// quantiles to 1.6 % of the number.
struct WindowReading {
  std::uint64_t count = 0;
  WindowSum sum = 0;
  double mean = 0;                // 0 of none
  std::int64_t min = 0, max = 0;  // 0 of none
  std::int64_t p50 = 0, p90 = 0, p99 = 0, p999 = 0;
  Millis covered{0};  // how far back it reaches: what was asked for, or up to a slot less
  Millis slot{0};     // in steps of which the window moves
  Millis length{0};   // for which the server keeps it
  // Parts of the statistic, of 4, that could not be read, and why; what was written there is
  // missing.
  std::uint32_t shards_missing = 0;
  std::string problem;
};

// Numbers since it was made; refused: calls.
struct WindowCounts {
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;    // held for statistics.hold, and the server was not there
  std::uint64_t uncertain = 0;  // likewise, but it may have counted them: it never answered
  std::uint64_t refused = 0;    // a name too many, or one too long
  std::uint64_t resent = 0;     // flushes; none of them counts twice
  std::uint64_t names = 0;      // now
};

// What is added is summed here and flushed every statistics.flush-interval: exactly once, however
// often a flush has to be sent again. If the process dies, it takes an interval's numbers along.
// The server's clock says when they were.
//
// Thread-safe; cheap to copy, and copies share everything. Adding never waits for the server. Not
// to be used by a child that this process has forked, nor in destructors of thread_local objects.
class WindowStats {
 public:
  // Throws std::invalid_argument: server.url is not set, or is of no use, or a file of
  // server.tls-*. Whether the server is there does not matter.
  explicit WindowStats(const ClientOptions& options);

  // About 10 ns, of names longer than 32 bytes 16. Names are any bytes, 512 at most. False: it is
  // one name more than statistics.maximum-names, or too long.
  bool add(std::string_view name, std::int64_t value) const noexcept;

  // For who adds to one statistic again and again: about 5 ns. Must not outlive the WindowStats.
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

  // Over the last `window`; of more than statistics.length there is nothing. Asks the server: it
  // knows what was flushed. Nothing: nobody has written it within its length. Throws ServerError,
  // ServerUnavailable.
  std::optional<WindowReading> read(std::string_view name,
                                    Nanos window = std::chrono::hours(24)) const;
  // The names that fit a glob ("api:*"); of a cluster those that one node knows. Throws likewise.
  std::vector<std::string> list(std::string_view pattern = "*") const;

  // Waits until what was added before is delivered; throws ServerUnavailable if it is not in time.
  void flush(Nanos patience = std::chrono::seconds(5)) const;

  WindowCounts counts() const;
  // Why the last flush failed; "": it did not.
  std::string problem() const;

  // Flushes once more, for a second at most. What is added later goes nowhere. The last copy of the
  // WindowStats does it, too.
  void close() const;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace heatsink::client
