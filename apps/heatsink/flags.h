// SPDX-License-Identifier: Apache-2.0
// How the verbs read their command lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heatsink::app {

// Parses; when the verb must not go on, the exit code: kDone after --help (printed), kMisused after
// a wrong command line (told on stderr, with where to find help).
std::optional<int> parse_flags(CLI::App& app, int argc, char** argv);

// What the flags --config, --set and --rule say.
struct ConfigurationFlags {
  std::string file;                      // "": none
  std::vector<std::string> assignments;  // "option=value", in order
  std::vector<std::string> rules;        // "match=user:*,hot-qps=500", in order
};
void add_configuration_flags(CLI::App& app, ConfigurationFlags& flags);

}  // namespace heatsink::app
