// SPDX-License-Identifier: Apache-2.0
// net: event loops, sockets, timers. The only room with socket calls.
// Start with event_loop.h; one loop belongs to one thread.
#pragma once

#include "heatsink/net/address.h"      // IWYU pragma: export
#include "heatsink/net/certificate.h"  // IWYU pragma: export
#include "heatsink/net/event_loop.h"   // IWYU pragma: export
#include "heatsink/net/socket.h"       // IWYU pragma: export
#include "heatsink/net/stream.h"       // IWYU pragma: export
#include "heatsink/net/tls_context.h"  // IWYU pragma: export
#include "heatsink/net/tls_memory.h"   // IWYU pragma: export
#include "heatsink/net/unix_socket.h"  // IWYU pragma: export
