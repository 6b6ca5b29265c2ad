// SPDX-License-Identifier: Apache-2.0
// Prints window statistics for the verb stats and the admin API.
#pragma once

#include <string>
#include <vector>

#include "heatsink/distributed/distributed.h"

namespace heatsink::app {

struct NamedReading {
  std::string name;
  distributed::StatisticReading reading;
};

// Complete lines. Names are escaped for a terminal.
std::string stats_text(const NamedReading& one);
std::string stats_table(const std::vector<NamedReading>& all);

// One line: an object; {"statistics":[...]}.
std::string stats_json(const NamedReading& one);
std::string stats_json(const std::vector<NamedReading>& all);

}  // namespace heatsink::app
