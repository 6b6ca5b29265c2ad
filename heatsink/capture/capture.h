// SPDX-License-Identifier: Apache-2.0
// capture: Redis traffic read off the network, live or from a file: commands, keys and outcomes.
// Sends no packet. Start with captured_command.h (the record of one command) and feed.h (live);
// decoder.h with packet_file.h does the same for a file.
#pragma once

#include "heatsink/capture/captured_command.h"  // IWYU pragma: export
#include "heatsink/capture/counters.h"          // IWYU pragma: export
#include "heatsink/capture/decoder.h"           // IWYU pragma: export
#include "heatsink/capture/endpoint.h"          // IWYU pragma: export
#include "heatsink/capture/feed.h"              // IWYU pragma: export
#include "heatsink/capture/packet.h"            // IWYU pragma: export
#include "heatsink/capture/packet_file.h"       // IWYU pragma: export
#include "heatsink/capture/reply_watch.h"       // IWYU pragma: export
