// SPDX-License-Identifier: Apache-2.0
// Writes all that is known of one key as JSON: the answer of GET /api/key (docs/reference/http-
// api.md).
#pragma once

#include <string>

#include "heatsink/report/inspection.h"
#include "heatsink/report/json_values.h"

namespace heatsink::report {

// hotkeys_json() with the row of this key alone, which has what the server told besides, and
// "events". `boot` and `wall` are one moment on both clocks.
std::string key_json(const KeyInspection& told, TimePoint boot, WallTime wall);

}  // namespace heatsink::report
