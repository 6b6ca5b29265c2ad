// SPDX-License-Identifier: Apache-2.0
// Reads the history back from its file, also while a proxy writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/heat/heat_map.h"
#include "heatsink/heat/sums.h"
#include "heatsink/history/record.h"

namespace heatsink::history {

// Of the time from `from` to `to`.
struct Range {
  WallTime from{}, to{};
  // The length of a step in seconds: one of kFileTiers, or a multiple of the last. Nothing: the
  // finest one that reaches back to `from` and needs at most heat::History::kStepsMax steps. Of a
  // given length, only the latest kStepsMax steps of the range are read.
  std::optional<std::int64_t> step_s{};
  std::int64_t after = INT64_MIN;     // only steps with a higher number
  std::size_t rows_max = 128;         // of each kind; all: at most heat::kRowsMax
  std::optional<heat::Kind> kind{};   // only rows of this kind; read_sums() has keys in any case
  std::optional<std::string> key{};   // only keys of this name, by its exact bytes
  std::optional<std::uint32_t> db{};  // only in this database
};

// Each step begins at its time of day: TimePoint counts from 1970 in it, and its number is that
// time / step. Steps that are not over yet are made of the finer columns. Errors: there is no file,
// or it is no history. Opens the file, and closes it: about 50 ms for 1440 steps of 96 rows.
Result<heat::HeatMap> read_heat(const std::string& path, const Range& range);

// What each key had in that time, by the time of day as above; `after` and `rows_max` are not
// looked at. Asks for each name once: about 50 ms for 5000 names.
Result<heat::Sums> read_sums(const std::string& path, const Range& range);

// Events of that time, the oldest first; of the named key, if the range has one. At most `max`: the
// latest.
inline constexpr std::size_t kEventsMax = 10'000;
Result<std::vector<KeptEvent>> read_events(const std::string& path, const Range& range,
                                           std::size_t max = kEventsMax);

// The time that the file has columns of; nothing: none.
struct Kept {
  WallTime from{}, to{};
};
Result<std::optional<Kept>> read_kept(const std::string& path);

}  // namespace heatsink::history
