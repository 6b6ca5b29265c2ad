// SPDX-License-Identifier: Apache-2.0
// resp: RESP2 and RESP3 as bytes: requests, replies, and what is known of each command. No socket.
// Start with request_parser.h (bytes from clients) and reply_scanner.h (bytes from servers).
#pragma once

#include "heatsink/resp/command_table.h"   // IWYU pragma: export
#include "heatsink/resp/decimal.h"         // IWYU pragma: export
#include "heatsink/resp/inline_request.h"  // IWYU pragma: export
#include "heatsink/resp/key_slot.h"        // IWYU pragma: export
#include "heatsink/resp/monitor_line.h"    // IWYU pragma: export
#include "heatsink/resp/plain_request.h"   // IWYU pragma: export
#include "heatsink/resp/reply_scanner.h"   // IWYU pragma: export
#include "heatsink/resp/request_parser.h"  // IWYU pragma: export
#include "heatsink/resp/resp2_form.h"      // IWYU pragma: export
#include "heatsink/resp/value.h"           // IWYU pragma: export
#include "heatsink/resp/writer.h"          // IWYU pragma: export
