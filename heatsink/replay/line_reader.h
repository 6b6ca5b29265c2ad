// SPDX-License-Identifier: Apache-2.0
// Reads one line of a trace, in each of its formats.
#pragma once

#include <memory>
#include <string_view>

#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// Not thread-safe; may remember what an earlier line said (a header).
class LineReader {
 public:
  virtual ~LineReader() = default;

  // As ReadingFacts::format names it.
  virtual std::string_view format() const = 0;

  // Adds what the line tells to `out`. Why the line is bad, as a text that lives for ever and
  // repeats nothing of the line; "" if it is not. A bad line adds nothing.
  virtual std::string_view take(std::string_view line, TraceBuilder& out) = 0;
};

// The reader of the format that a trace with this first line has; null if none knows it.
std::unique_ptr<LineReader> reader_for(std::string_view first_line);

// Each is null when the first line is not of its format.
std::unique_ptr<LineReader> csv_reader(std::string_view first_line);
std::unique_ptr<LineReader> monitor_reader(std::string_view first_line);
std::unique_ptr<LineReader> recording_reader(std::string_view first_line);

}  // namespace heatsink::replay
