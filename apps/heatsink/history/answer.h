// SPDX-License-Identifier: Apache-2.0
// Answers what was hot in a time, what was done, and what that saved, from the history's file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/heat/heat_map.h"
#include "heatsink/history/reader.h"

namespace heatsink::app {

struct HistoryQuestion {
  std::string path;
  WallTime from{}, to{};
  std::optional<std::string> key{};  // only this one, by its exact bytes
  std::optional<std::uint32_t> db{};
  heat::Kind kind = heat::Kind::kKey;  // of the rows
  std::size_t rows = 20;
};

// Sums over the time. Rates are means per counted second.
struct HistoryAnswer {
  std::int64_t step_s = 0;
  std::uint64_t counted_s = 0;  // seconds of the time in which something was counted
  double requests = 0, requests_max = 0, reads = 0, writes = 0, hits = 0;
  // NaN: not known.
  double commands = 0, server_commands = 0;
  double bytes = 0;
  double server_cpu = 0, server_cpu_spared = 0;  // seconds per second
  double latency_p50_s = 0;                      // the mean of the steps' medians
  double latency_p99_max_s = 0;                  // of the step in which it was highest
  struct Row {
    heat::Identity identity;
    // At least so much: a step that does not name it counts as nothing.
    double rate = 0, rate_max = 0, writes = 0, hits = 0;
    // Bytes per second, and the CPU time that its hits spared the servers, in seconds per second.
    // NaN: not known.
    double bytes = 0, server_cpu_spared = 0;
    std::vector<double> over_time;  // a rate for each of `times`; NaN: nothing was counted
  };
  std::vector<Row> rows;  // the busiest first
  double total = 0;       // the rate of all rows and others; NaN: not known
  double others = 0;      // the rate of all that has no row
  double others_max = 0;  // the highest possible rate of one that is not named; NaN: not known
  std::vector<WallTime> times;  // kTimes or fewer parts of the time, of the same length
  std::vector<history::KeptEvent> events;
  std::optional<history::Kept> kept;  // what the file has

  static constexpr std::size_t kTimes = 24;
};

Result<HistoryAnswer> answer(const HistoryQuestion& question);
// The same of what was read. Pure.
HistoryAnswer summarize(const HistoryQuestion& question, const heat::HeatMap& map);

std::string history_text(const HistoryQuestion& question, const HistoryAnswer& answer);

}  // namespace heatsink::app
