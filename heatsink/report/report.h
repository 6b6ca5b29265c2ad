// SPDX-License-Identifier: Apache-2.0
// report: the values that people see of a node and its keys, and the orders to warm keys. The proxy
// and the library fill in the values; observe makes them from other sources. Start with
// node_report.h; warming.h has the orders. The JSON headers include Boost.JSON, so include them
// yourself: hotkeys_json.h, events_json.h, key_fields.h, warm_json.h, json_members.h,
// json_values.h, verdict_json.h.
#pragma once

#include "heatsink/report/config_order.h"     // IWYU pragma: export
#include "heatsink/report/copies_report.h"    // IWYU pragma: export
#include "heatsink/report/dropping.h"         // IWYU pragma: export
#include "heatsink/report/event.h"            // IWYU pragma: export
#include "heatsink/report/inspection.h"       // IWYU pragma: export
#include "heatsink/report/key_view.h"         // IWYU pragma: export
#include "heatsink/report/load_relief.h"      // IWYU pragma: export
#include "heatsink/report/node_report.h"      // IWYU pragma: export
#include "heatsink/report/node_view.h"        // IWYU pragma: export
#include "heatsink/report/replicas_report.h"  // IWYU pragma: export
#include "heatsink/report/template_report.h"  // IWYU pragma: export
#include "heatsink/report/warming.h"          // IWYU pragma: export
