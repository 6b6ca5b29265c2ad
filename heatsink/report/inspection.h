// SPDX-License-Identifier: Apache-2.0
// Holds all that the proxy or the library knows of one key, and writes it as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/report/event.h"
#include "heatsink/report/node_report.h"

namespace heatsink::report {

// A plain value. Members about the value are empty if the server did not report them.
struct KeyInspection {
  // The node as in any report, with only this key; a key that is neither hot nor warm is listed as
  // kCold, with the bounds of its count. Without a row, `problem` gives the reason.
  Report report;
  std::vector<Event> events;          // of this key, oldest first
  std::string type, encoding;         // "hash", "listpack"; type "none": the key does not exist
  std::optional<Bytes> value_bytes;   // of a string
  std::optional<Bytes> memory_bytes;  // memory on the server
  std::optional<Nanos> ttl;
  bool never_expires = false;
  std::string problem;  // why members about the value are missing; or ""
};

// The answer of GET /api/key (docs/reference/http-api.md): hotkeys_json() with only this key's row,
// to which it adds the server's answers about the value, and "events". `boot` and `wall` are the
// same moment on both clocks.
std::string key_json(const KeyInspection& told, TimePoint boot, WallTime wall);

}  // namespace heatsink::report
