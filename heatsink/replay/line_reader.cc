// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/line_reader.h"

namespace heatsink::replay {

std::unique_ptr<LineReader> reader_for(std::string_view first_line) {
  for (const auto& open : {recording_reader, monitor_reader, csv_reader}) {
    if (std::unique_ptr<LineReader> reader = open(first_line)) return reader;
  }
  return nullptr;
}

}  // namespace heatsink::replay
