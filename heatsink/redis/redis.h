// SPDX-License-Identifier: Apache-2.0
// redis: heatsink's own connections to a server: state machines without sockets, and their links.
// Start with tracker.h: the connection that fills local copies and hears of every change to them.
#pragma once

#include "heatsink/redis/credentials.h"  // IWYU pragma: export
#include "heatsink/redis/dialogue.h"     // IWYU pragma: export
#include "heatsink/redis/fill.h"         // IWYU pragma: export
#include "heatsink/redis/link.h"         // IWYU pragma: export
#include "heatsink/redis/pipeline.h"     // IWYU pragma: export
#include "heatsink/redis/place.h"        // IWYU pragma: export
#include "heatsink/redis/tracker.h"      // IWYU pragma: export
#include "heatsink/redis/value_facts.h"  // IWYU pragma: export
