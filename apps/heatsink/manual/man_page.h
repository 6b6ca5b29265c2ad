// SPDX-License-Identifier: Apache-2.0
// Makes the manual pages: of the program, of each verb, of the configuration file, of the metrics.
#pragma once

#include <string>
#include <vector>

#include "apps/heatsink/manual/command_facts.h"
#include "heatsink/base/metric.h"
#include "heatsink/base/option.h"

namespace heatsink::app {

struct Edition {
  std::string version;    // "0.1.0"
  std::string date = {};  // "2026-11-25"; "": the page has none
};

struct ManualPage {
  std::string file;  // "heatsink-proxy.1"
  std::string text;
};

// heatsink.1. `commands`: the verbs.
ManualPage program_page(const std::vector<CommandFacts>& commands, const Edition& edition);
// heatsink-VERB.1.
ManualPage command_page(const CommandFacts& command, const Edition& edition);
// heatsink.yaml.5.
ManualPage file_page(const OptionSet& options, const Edition& edition);
// heatsink-metrics.7. Rows with the same name are one.
ManualPage metrics_page(MetricRows rows, const Edition& edition);

}  // namespace heatsink::app
