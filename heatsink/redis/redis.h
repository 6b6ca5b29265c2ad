// SPDX-License-Identifier: Apache-2.0
// redis: what heatsink itself says to a server, as state machines without sockets.
// Start with tracker.h: the connection that fills local copies and hears of every change to them.
#pragma once

#include "heatsink/redis/credentials.h"  // IWYU pragma: export
#include "heatsink/redis/fill.h"         // IWYU pragma: export
#include "heatsink/redis/tracker.h"      // IWYU pragma: export
