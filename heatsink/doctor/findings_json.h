// SPDX-License-Identifier: Apache-2.0
// Writes findings as JSON, for `heatsink doctor --json` and /api/health, and reads them again.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/doctor/finding.h"

namespace heatsink::doctor {

struct Diagnosis {
  bool is_ready = true;    // /healthz says ok
  std::string problem;     // why not
  std::string checked_at;  // ISO 8601; "": not checked yet
  Findings findings;
  std::size_t left_out = 0;
};

std::string diagnosis_json(const Diagnosis& diagnosis);

// Unknown members are ignored. Errors: kProtocol. At most kFindingsMax findings are read; texts are
// as they came, so escape them for a terminal.
inline constexpr std::size_t kFindingsMax = 1000;
Result<Diagnosis> parse_diagnosis(std::string_view json);

}  // namespace heatsink::doctor
