// SPDX-License-Identifier: Apache-2.0
// What the server has of a statistic: what all its writers have added, over the last so long.
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

// Count, sum and extremes are exact, quantiles to stats::kErrorMax; of what writers have delivered:
// they do so every flush interval.
struct StatisticReading {
  stats::Summary summary;
  Millis slot{0};    // in steps of which the window moves
  Millis length{0};  // for which the statistic is kept
  // How far back this reaches from the server's now: what was asked for (or `length`, if that is
  // less), and up to a slot less.
  Millis covered{0};
  // Shards of kStatisticShards that could not be read: what was written there is missing. The
  // reason of one of them.
  std::uint32_t shards_missing = 0;
  std::string problem;
};

// One shard's reply to `read`; nothing: there is no such key. kProtocol: not of this form.
Result<std::optional<StatisticReading>> parse_reading(const resp::Value& reply);

// Blocks until all shards have answered, or the deadline. kNotFound: nobody has written it for its
// whole window. Otherwise an error only if no shard could be read.
Result<StatisticReading> read_statistic(Server& server, std::string_view name, Millis window,
                                        TimePoint deadline);

// The names that fit a glob, as KEYS has it, in order; of a cluster those of one node alone. Blocks
// likewise. kOutOfRange: more than kStatisticNamesMax. Looks at every key of the server, a thousand
// at a time.
inline constexpr std::size_t kStatisticNamesMax = 10'000;
Result<std::vector<std::string>> list_statistics(Server& server, std::string_view pattern,
                                                 TimePoint deadline);

}  // namespace heatsink::distributed
