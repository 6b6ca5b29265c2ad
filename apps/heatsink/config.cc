// SPDX-License-Identifier: Apache-2.0
// heatsink config print | check | metrics
#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/heatsink/configuration.h"
#include "apps/heatsink/metrics.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

// The faults of the file, of the assignments, and of their combination; `proxy` owns the targets of
// `options`.
ConfigFaults configure(const ConfigurationFlags& flags, policy::ProxyOptions& proxy,
                       OptionSet& options) {
  proxy.describe(options);
  ConfigFaults faults = apply_configuration(flags, options);
  add_contradictions(proxy, options, faults);
  return faults;
}

// Users share the output with colleagues and in tickets.
void hide_password(std::string& url) {
  const Result<net::RedisUrl> parsed = net::parse_redis_url(url);
  if (parsed.ok() && !parsed->password.empty()) url = parsed->redacted();
}

int print(const ConfigurationFlags& flags, bool markdown) {
  policy::ProxyOptions proxy;
  OptionSet options;
  const ConfigFaults faults = configure(flags, proxy, options);
  print_faults(faults, "heatsink config", std::cerr);
  if (!faults.empty()) return kMisused;
  hide_password(proxy.upstream);
  if (!proxy.admin_token.empty()) proxy.admin_token = net::kHiddenPassword;
  std::cout << (markdown ? options_page(options) : options.to_yaml()) << std::flush;
  return std::cout.good() ? kDone : kFailed;
}

int check(const ConfigurationFlags& flags) {
  policy::ProxyOptions proxy;
  OptionSet options;
  const ConfigFaults faults = configure(flags, proxy, options);
  print_faults(faults, "heatsink config", std::cerr);
  if (!faults.empty()) return kMisused;
  std::cout << "ok\n";
  return kDone;
}

}  // namespace

int run_config(int argc, char** argv) {
  CLI::App app("Prints the effective configuration, checks a file, or prints the list of metrics.");
  app.require_subcommand(1);
  ConfigurationFlags flags;
  bool markdown = false;
  CLI::App* const print_verb = app.add_subcommand("print",
                                                  "Print all options with their effective values, "
                                                  "as commented YAML; passwords and tokens as ***");
  add_configuration_flags(*print_verb, flags);
  print_verb->add_flag("--markdown", markdown, "Print the reference page of the options instead");
  const CLI::App* const metrics_verb =
      app.add_subcommand("metrics", "Print the reference page of the metrics");
  CLI::App* const check_verb =
      app.add_subcommand("check", "Check a configuration file: print ok, or all its faults");
  check_verb->add_option("FILE", flags.file, "Configuration file (YAML)")->required();
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (metrics_verb->parsed()) {
    std::cout << metrics_page() << std::flush;
    return std::cout.good() ? kDone : kFailed;
  }
  return print_verb->parsed() ? print(flags, markdown) : check(flags);
}

}  // namespace heatsink::app
