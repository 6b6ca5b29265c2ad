// SPDX-License-Identifier: Apache-2.0
// Writes /api/slots: the load of the nodes and slots of a cluster, and whether moving slots helps.
#pragma once

#include <string>

#include "heatsink/report/report.h"

namespace heatsink::app {

// "" without a cluster. Pure.
std::string slots_json(const report::Report& report);

}  // namespace heatsink::app
