// SPDX-License-Identifier: Apache-2.0
// admin: the HTTP API: health, metrics, and the hot keys with their evidence. Start with server.h;
// docs/reference/http-api.md is the contract with the readers. Sees base, net, detect and report,
// and learns about the proxy, or the library, only through the callbacks it is given.
#pragma once

#include "heatsink/admin/hotkeys_json.h"  // IWYU pragma: export
#include "heatsink/admin/metrics_text.h"  // IWYU pragma: export
#include "heatsink/admin/server.h"        // IWYU pragma: export
