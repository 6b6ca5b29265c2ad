// SPDX-License-Identifier: Apache-2.0
// All that is known of one key as JSON: what GET /api/key answers. docs/reference/http-api.md lists
// the members.
#pragma once

#include <string>

#include "heatsink/admin/json_values.h"
#include "heatsink/report/inspection.h"

namespace heatsink::admin {

// hotkeys_json() with the row of this key alone, which has what the server told besides, and
// "events". `boot` and `wall` are one moment on both clocks.
std::string key_json(const report::KeyInspection& told, TimePoint boot, WallTime wall);

}  // namespace heatsink::admin
