// SPDX-License-Identifier: Apache-2.0
// fleet: many proxies and library instances count together, through the server that is there.
// Start with member.h (one instance, without a socket), link.h (its connection), shared_limits.h
// (limits that all proxies share).
#pragma once

#include "heatsink/fleet/bounds.h"         // IWYU pragma: export
#include "heatsink/fleet/link.h"           // IWYU pragma: export
#include "heatsink/fleet/member.h"         // IWYU pragma: export
#include "heatsink/fleet/names.h"          // IWYU pragma: export
#include "heatsink/fleet/report.h"         // IWYU pragma: export
#include "heatsink/fleet/shared_limits.h"  // IWYU pragma: export
