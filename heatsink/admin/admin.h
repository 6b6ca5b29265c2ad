// SPDX-License-Identifier: Apache-2.0
// admin: the HTTP API of the proxy: health, metrics, and the hot keys with their evidence. Start
// with pages.h; docs/reference/http-api.md is the contract with its users. It knows the proxy only
// through the callbacks it is given; httpd serves its pages.
#pragma once

#include "heatsink/admin/metrics_text.h"  // IWYU pragma: export
#include "heatsink/admin/pages.h"         // IWYU pragma: export
#include "heatsink/admin/sources.h"       // IWYU pragma: export
