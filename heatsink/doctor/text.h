// SPDX-License-Identifier: Apache-2.0
// Writes findings for a terminal, and for the log.
#pragma once

#include <string>

#include "heatsink/doctor/finding.h"

namespace heatsink::doctor {

struct TextOptions {
  bool has_colour = false;
  std::size_t columns = 100;
};

// A line for each finding, and below it what it costs and how to mend it. A last line with the
// numbers.
std::string findings_text(const Findings& findings, std::size_t left_out,
                          const TextOptions& options);

// "WHAT: COST; MEND: PASTE": one line.
std::string log_line(const Finding& finding);

}  // namespace heatsink::doctor
