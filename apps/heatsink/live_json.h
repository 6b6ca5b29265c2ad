// SPDX-License-Identifier: Apache-2.0
// Writes what a live configuration says as the JSON of the admin API, and reads it for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/live_configuration.h"

namespace heatsink::app {

// GET /api/config: secrets as ***, names of single keys as `shown` says.
std::string config_json(const LiveConfiguration::Effective& now, const policy::ShownName& shown);
// The answer to a change.
std::string change_json(const ConfigAnswer& answer);

// The lines in which a verb shows such an answer.
struct ChangeLines {
  bool is_refused = false;
  std::vector<std::string> lines;
};
Result<ChangeLines> change_lines(std::string_view json);
// The rules of GET /api/config, one line each: "cart:*  level=off  (heatsink.yaml:12)".
Result<std::vector<std::string>> rule_lines(std::string_view json);

}  // namespace heatsink::app
