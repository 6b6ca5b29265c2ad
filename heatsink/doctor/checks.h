// SPDX-License-Identifier: Apache-2.0
// Lists all checks, and makes those for which there are facts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

// In the order of the report: the server, its settings, what stands between, this machine.
std::span<const Check> checks();

struct Examination {
  Findings findings;         // by check, in the order of checks()
  std::size_t left_out = 0;  // checks that need more of the server than it gave
};

// `when`: kStart makes all checks.
Examination examine(const Facts& facts, When when = When::kStart);

// The check of this code; null: there is none.
const Check* find_check(std::string_view code);

// docs/reference/doctor.md, printed by `heatsink doctor --list --markdown`; and the list for a
// terminal.
std::string checks_page();
std::string checks_list();

}  // namespace heatsink::doctor
