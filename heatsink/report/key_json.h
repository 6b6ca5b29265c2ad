// SPDX-License-Identifier: Apache-2.0
// Writes all that is known of one key as JSON: the answer of GET /api/key
// (docs/reference/http-api.md).
#pragma once

#include <string>

#include "heatsink/report/inspection.h"
#include "heatsink/report/json_values.h"

namespace heatsink::report {

// hotkeys_json() with only this key's row, to which it adds the server's answers about the value,
// and "events". `boot` and `wall` are the same moment on both clocks.
std::string key_json(const KeyInspection& told, TimePoint boot, WallTime wall);

}  // namespace heatsink::report
