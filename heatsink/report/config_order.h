// SPDX-License-Identifier: Apache-2.0
// What an operator asks of a running proxy's configuration, as the JSON of the admin API.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/result.h"

namespace heatsink::report {

// POST /api/config: the text of a configuration file, in place of the one that the proxy has.
struct ConfigOrder {
  std::string text;             // YAML
  std::string name = "(text)";  // of the file, for messages
  bool dry_run = false;         // only says what would change
  bool strict = false;          // changes nothing if a difference needs a restart
};
// POST /api/rules: one of both.
struct RuleOrder {
  std::string add;       // a rule in the form of --rule; "": none
  std::string remove;    // the match of a rule; "": none
  bool dry_run = false;  // only says what would change
};

// The order, or a sentence that says what is wrong with it. `json`: at most 1 MiB, hostile.
Result<ConfigOrder> parse_config_order(std::string_view json);
Result<RuleOrder> parse_rule_order(std::string_view json);

// The body of such a request.
std::string config_order_json(const ConfigOrder& order);
std::string rule_order_json(const RuleOrder& order);

}  // namespace heatsink::report
