// SPDX-License-Identifier: Apache-2.0
// The command line of `heatsink proxy`, and the configuration that it makes: defaults, the file,
// --set, --rule and the verb's own flags.
#pragma once

#include <deque>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "apps/heatsink/flags.h"
#include "heatsink/base/config_file.h"
#include "heatsink/policy/options.h"

namespace CLI {
class App;
}

namespace heatsink::app {

struct ProxyFlags {
  ConfigurationFlags configuration;
  std::string listen, upstream, admin, workers;
};
void add_proxy_flags(CLI::App& app, ProxyFlags& flags);

// The text of the configuration file, and its name in messages. Both are empty without a file.
struct ConfigText {
  std::string text, name;
};
Result<ConfigText> read_config_text(const ProxyFlags& flags);

// A rule that was added to the running proxy, in the form of --rule.
struct AddedRule {
  std::string text;
  std::string match;
  std::string origin;  // "added live 2026-11-25T12:00:00Z by 127.0.0.1:5000"
};
// Changes of an operator since the start; they outlive another file, and end with the
// process.
struct LiveRules {
  std::vector<AddedRule> added;
  std::set<std::string> removed;  // matches of rules of the file and of --rule
};

struct BuiltConfiguration {
  struct Rule {
    policy::RuleOptions options;
    std::string origin;  // "heatsink.yaml:12", "--rule", AddedRule::origin
    bool is_live = false;
  };

  policy::ProxyOptions options;  // the password of the server is in upstream.url
  std::vector<Rule> rules;       // those of `options`, in their order
  // Rules of the file or of --rule that LiveRules::removed keeps out.
  std::vector<Rule> left_out;
  ConfigFaults faults;                  // not empty: do not use the rest
  std::vector<std::string> deprecated;  // OptionSet::deprecated_in_use()

  // Writes to the log each sentence of `deprecated` that `known` does not have.
  void log_deprecated(std::span<const std::string> known = {}) const;
};
// Reads the files of the passwords that the options name.
BuiltConfiguration build_configuration(const ProxyFlags& flags, const ConfigText& file,
                                       const LiveRules& live = {});

}  // namespace heatsink::app
