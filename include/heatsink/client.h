// SPDX-License-Identifier: Apache-2.0
// What a C++ application includes: heatsink::Client, and what its functions take and give.
#pragma once

#include "heatsink/client/client.h"        // IWYU pragma: export
#include "heatsink/client/window_stats.h"  // IWYU pragma: export

namespace heatsink {

using client::Client;
using client::ClientOptions;
using client::HotEvent;
using client::HotKeyInfo;
using client::LoadRefused;
using client::Local;
using client::ServerError;
using client::ServerUnavailable;
using client::Stats;
using client::WindowCounts;
using client::WindowReading;
using client::WindowStats;

}  // namespace heatsink
