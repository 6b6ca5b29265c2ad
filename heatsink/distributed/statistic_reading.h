// SPDX-License-Identifier: Apache-2.0
// Reads a statistic from the server: the numbers of all its writers over a time up to now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/server.h"
#include "heatsink/resp/value.h"
#include "heatsink/stats/stats.h"

namespace heatsink::distributed {

// Covers what writers have delivered; they do so once per flush interval. Count, sum and extremes
// are exact, quantiles within stats::kErrorMax.
struct StatisticReading {
  stats::Summary summary;
  Millis slot{0};    // the step by which the window moves
  Millis length{0};  // how long the statistic is kept
  // The time covered, back from the server's now: the wanted time (at most `length`), and up to a
  // slot less.
  Millis covered{0};
  // Shards of kStatisticShards that could not be read, so their numbers are missing; and the reason
  // of one of them.
  std::uint32_t shards_missing = 0;
  std::string problem;
};

// Parses one shard's reply to `read`; nothing: the key does not exist. kProtocol: another form.
Result<std::optional<StatisticReading>> parse_reading(const resp::Value& reply);

// Blocks until all shards have answered, or the deadline. kNotFound: no process has written the
// statistic within its window. Other errors only if no shard could be read.
Result<StatisticReading> read_statistic(Server& server, std::string_view name, Millis window,
                                        TimePoint deadline);

// The names that match a glob, as for KEYS, sorted; in a cluster only those on one node. Blocks
// like read_statistic(). kOutOfRange: more than kStatisticNamesMax. Scans all keys of the server, a
// thousand at a time.
inline constexpr std::size_t kStatisticNamesMax = 10'000;
Result<std::vector<std::string>> list_statistics(Server& server, std::string_view pattern,
                                                 TimePoint deadline);

}  // namespace heatsink::distributed
