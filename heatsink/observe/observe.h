// SPDX-License-Identifier: Apache-2.0
// observe: sources that ask a server about its hot keys, each with its cost and error bounds. Start
// with source.h (the contract), then fleet.h (one server or a cluster), then observer.h (the thread
// that runs it all).
#pragma once

#include "heatsink/observe/capture_target.h"   // IWYU pragma: export
#include "heatsink/observe/cross_check.h"      // IWYU pragma: export
#include "heatsink/observe/fleet.h"            // IWYU pragma: export
#include "heatsink/observe/make_source.h"      // IWYU pragma: export
#include "heatsink/observe/monitor_verdict.h"  // IWYU pragma: export
#include "heatsink/observe/observer.h"         // IWYU pragma: export
#include "heatsink/observe/picture.h"          // IWYU pragma: export
#include "heatsink/observe/source.h"           // IWYU pragma: export
