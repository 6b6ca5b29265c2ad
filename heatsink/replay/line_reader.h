// SPDX-License-Identifier: Apache-2.0
// Reads one line of a trace, in each of its formats.
#pragma once

#include <memory>
#include <string_view>

#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// Not thread-safe; may keep state of earlier lines (a header).
class LineReader {
 public:
  virtual ~LineReader() = default;

  // For ReadingFacts::format.
  virtual std::string_view format() const = 0;

  // Adds the line's accesses to `out`. Returns "", or why the line is bad: a static text without
  // any part of the line. A bad line adds nothing.
  virtual std::string_view take(std::string_view line, TraceBuilder& out) = 0;
};

// The reader for a trace with this first line; null for an unknown format.
std::unique_ptr<LineReader> reader_for(std::string_view first_line);

// Each returns null if the first line is not of its format.
std::unique_ptr<LineReader> csv_reader(std::string_view first_line);
std::unique_ptr<LineReader> monitor_reader(std::string_view first_line);
std::unique_ptr<LineReader> recording_reader(std::string_view first_line);

}  // namespace heatsink::replay
