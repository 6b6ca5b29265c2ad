// SPDX-License-Identifier: Apache-2.0
// Parses the command lines of the verbs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heatsink::app {

// Parses. Returns an exit code if the verb must not continue: kDone after --help (printed),
// kMisused for a wrong command line (explained on stderr, with a hint to --help).
std::optional<int> parse_flags(CLI::App& app, int argc, char** argv);

// While one exists, parse_flags() parses nothing: it passes the verb's App to `read`, and the verb
// ends with kDone. So a verb's flags can be listed without a second description of them. One at a
// time, and only while there is one thread.
class FlagsReader {
 public:
  explicit FlagsReader(std::function<void(const CLI::App&)> read);
  ~FlagsReader();
  FlagsReader(const FlagsReader&) = delete;
  FlagsReader& operator=(const FlagsReader&) = delete;
};

// The values of the flags --config, --set and --rule.
struct ConfigurationFlags {
  std::string file;                      // "": none
  std::vector<std::string> assignments;  // "option=value", in order
  std::vector<std::string> rules;        // "match=user:*,hot-qps=500", in order
};
void add_configuration_flags(CLI::App& app, ConfigurationFlags& flags);

}  // namespace heatsink::app
