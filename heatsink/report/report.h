// SPDX-License-Identifier: Apache-2.0
// report: what is told of a node and its keys, and what is ordered: plain values, no behaviour.
// The proxy and the library fill them in; admin turns them into JSON, observe makes them from other
// sources. Start with node_report.h; warming.h has the orders.
#pragma once

#include "heatsink/report/event.h"        // IWYU pragma: export
#include "heatsink/report/inspection.h"   // IWYU pragma: export
#include "heatsink/report/node_report.h"  // IWYU pragma: export
#include "heatsink/report/warming.h"      // IWYU pragma: export
