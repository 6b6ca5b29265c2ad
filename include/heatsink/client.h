// SPDX-License-Identifier: Apache-2.0
// Include this to use heatsink::Client and heatsink::WindowStats from C++, with the types that
// their functions take and return. Guide: docs/guides/library.md.
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
