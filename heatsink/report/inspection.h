// SPDX-License-Identifier: Apache-2.0
// All that the proxy or the library knows of one key, for a person who asks about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"
#include "heatsink/report/event.h"
#include "heatsink/report/node_report.h"

namespace heatsink::report {

// A plain value. Of the value: what the server told now; the rest is empty.
struct KeyInspection {
  // The node as in any report, and of its keys this one alone: if it is neither hot nor warm as
  // kCold, with the bounds of what is counted. No row: `problem` says why.
  Report report;
  std::vector<Event> events;          // of this key, oldest first
  std::string type, encoding;         // "hash", "listpack"; type "none": there is no such key
  std::optional<Bytes> value_bytes;   // of a string
  std::optional<Bytes> memory_bytes;  // what the server needs for it
  std::optional<Nanos> ttl;
  bool never_expires = false;
  std::string problem;  // why (some of) the value is not told; ""
};

}  // namespace heatsink::report
