// SPDX-License-Identifier: Apache-2.0
// heatsink config apply | check | metrics | print
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "apps/heatsink/ask_admin.h"
#include "apps/heatsink/configuration.h"
#include "apps/heatsink/metrics.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/option_print.h"
#include "heatsink/net/net.h"
#include "heatsink/report/config_order.h"

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
  const Result<net::RedisUrl> parsed = net::parse_upstream_url(url);
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
  if (!proxy.alerts.webhook.empty()) proxy.alerts.webhook = net::kHiddenPassword;
  proxy.alerts.command = proxy.alerts.shown_command();
  std::cout << (markdown ? options_page(options) : to_yaml(options)) << std::flush;
  return std::cout.good() ? kDone : kFailed;
}

// The proxy may run in another folder: names in messages are those of this machine's files.
int apply(const AdminFlags& flags, report::ConfigOrder& order, const char* program) {
  Result<std::string> text = read_config_file(order.name);
  if (!text.ok()) {
    std::cerr << program << ": " << text.error().message << "\n";
    return kMisused;
  }
  order.text = std::move(text).value();
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::absolute(order.name, unknown);
  if (!unknown) order.name = whole.lexically_normal().string();
  return ask_for_change(flags, {"POST", "/api/config", report::config_order_json(order)}, program);
}

int check(const ConfigurationFlags& flags) {
  policy::ProxyOptions proxy;
  OptionSet options;
  const ConfigFaults faults = configure(flags, proxy, options);
  print_faults(faults, "heatsink config", std::cerr);
  if (!faults.empty()) return kMisused;
  print_deprecated(options, "heatsink config", std::cerr);
  std::cout << "ok\n";
  return kDone;
}

const CLI::App* add_apply_verb(CLI::App& app, AdminFlags& admin, report::ConfigOrder& order) {
  CLI::App* const verb = app.add_subcommand(
      "apply", "Have a running proxy take this file in place of its own, without a restart");
  verb->add_option("FILE", order.name, "Configuration file (YAML)")->required();
  verb->add_flag("--dry-run", order.dry_run, "Only show what would change");
  verb->add_flag("--strict", order.strict,
                 "Change nothing if a difference needs a restart; "
                 "otherwise the proxy applies the other differences");
  add_admin_flags(*verb, admin);
  return verb;
}

}  // namespace

int run_config(int argc, char** argv) {
  CLI::App app(
      "Prints the effective configuration, checks a file, applies it to a running proxy, "
      "or prints the list of metrics.",
      argv[0]);
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
  AdminFlags admin;
  report::ConfigOrder order;
  const CLI::App* const apply_verb = add_apply_verb(app, admin, order);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (metrics_verb->parsed()) {
    std::cout << metrics_page() << std::flush;
    return std::cout.good() ? kDone : kFailed;
  }
  if (apply_verb->parsed()) return apply(admin, order, argv[0]);
  return print_verb->parsed() ? print(flags, markdown) : check(flags);
}

}  // namespace heatsink::app
