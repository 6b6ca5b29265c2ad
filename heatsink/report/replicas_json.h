// SPDX-License-Identifier: Apache-2.0
// Writes what is known of the replicas as JSON (docs/reference/http-api.md).
#pragma once

#include <span>
#include <string>

#include "heatsink/report/replicas_report.h"

namespace heatsink::report {

std::string replicas_json(std::span<const ReplicaReport> replicas);

}  // namespace heatsink::report
