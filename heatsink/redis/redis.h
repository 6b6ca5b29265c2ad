// SPDX-License-Identifier: Apache-2.0
// redis: heatsink's own connections to a server: state machines without sockets, and the sockets
// for them. Start with tracker.h: the connection that fills local copies and receives the
// invalidations of their keys.
#pragma once

#include "heatsink/redis/connection_protocol.h"  // IWYU pragma: export
#include "heatsink/redis/credentials.h"          // IWYU pragma: export
#include "heatsink/redis/fill.h"                 // IWYU pragma: export
#include "heatsink/redis/info_text.h"            // IWYU pragma: export
#include "heatsink/redis/pipeline.h"             // IWYU pragma: export
#include "heatsink/redis/refusal.h"              // IWYU pragma: export
#include "heatsink/redis/server_connection.h"    // IWYU pragma: export
#include "heatsink/redis/server_use.h"           // IWYU pragma: export
#include "heatsink/redis/tracker.h"              // IWYU pragma: export
#include "heatsink/redis/upstream_address.h"     // IWYU pragma: export
#include "heatsink/redis/value_facts.h"          // IWYU pragma: export
