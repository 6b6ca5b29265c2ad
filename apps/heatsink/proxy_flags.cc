// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/proxy_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "apps/heatsink/configuration.h"
#include "apps/heatsink/password.h"
#include "heatsink/base/log.h"
#include "heatsink/base/option_list.h"

namespace heatsink::app {
namespace {

void set_own(const ProxyFlags& flags, OptionSet& options, ConfigFaults& faults) {
  const std::pair<const char*, const std::string&> own[] = {{"proxy.listen", flags.listen},
                                                            {"upstream.url", flags.upstream},
                                                            {"admin.listen", flags.admin},
                                                            {"proxy.workers", flags.workers}};
  for (const auto& [name, text] : own) {
    if (text.empty()) continue;
    if (const Status set = options.set(name, text); !set.ok()) faults.push_back(set.error());
  }
}

void add_live(const LiveRules& live, OptionSet& options, ConfigFaults& faults) {
  for (const AddedRule& rule : live.added) {
    for (const Error& fault : options.find_list("rules")->add_item(rule.text, rule.origin))
      faults.push_back({fault.code, rule.origin + ": " + fault.message});
  }
}

}  // namespace

void add_proxy_flags(CLI::App& app, ProxyFlags& flags) {
  app.add_option(
      "--listen", flags.listen,
      "Address that clients connect to, host:port or unix:/path (default 127.0.0.1:6380)");
  app.add_option("--upstream", flags.upstream,
                 "The server: redis://[user@]host[:port], rediss:// for TLS, "
                 "or unix:///path (default redis://127.0.0.1:6379); "
                 "for its password use --set upstream.password-file=FILE, "
                 "or HEATSINK_UPSTREAM_PASSWORD");
  app.add_option("--admin", flags.admin,
                 "Address of the admin API, host:port, or off (default 127.0.0.1:6390)");
  app.add_option("--workers", flags.workers,
                 "Threads that serve clients; 0: one per core (default 0)");
  add_configuration_flags(app, flags.configuration);
}

Result<ConfigText> read_config_text(const ProxyFlags& flags) {
  const std::string& name = flags.configuration.file;
  if (name.empty()) return ConfigText{};
  Result<std::string> text = read_config_file(name);
  if (!text.ok()) return text.error();
  return ConfigText{std::move(text).value(), name};
}

void BuiltConfiguration::log_deprecated(std::span<const std::string> known) const {
  for (const std::string& sentence : deprecated)
    if (std::ranges::find(known, sentence) == known.end()) log(LogLevel::kWarning, sentence);
}

BuiltConfiguration build_configuration(const ProxyFlags& flags, const ConfigText& file,
                                       const LiveRules& live) {
  policy::ProxyOptions options;
  OptionSet rows;
  options.describe(rows);
  BuiltConfiguration built;
  ConfigFaults& faults = built.faults;
  if (!file.name.empty())
    append_faults(faults, apply_config_text(file.text, file.name, rows, OnFault::kKeepTheRest));
  append_faults(faults, apply_configuration_flags(flags.configuration, rows));
  const std::size_t configured = rows.find_list("rules")->size();
  add_live(live, rows, faults);
  set_own(flags, rows, faults);
  add_contradictions(options, rows, faults);
  if (faults.empty()) {
    if (const Status taken = take_password(options); !taken.ok()) faults.push_back(taken.error());
  }
  const OptionList& list = *rows.find_list("rules");
  for (std::size_t i = 0; i < options.rules.size(); ++i) {
    const bool is_live = i >= configured;
    const bool is_removed = !is_live && live.removed.contains(options.rules[i].match);
    (is_removed ? built.left_out : built.rules)
        .push_back({options.rules[i], list.origin(i), is_live});
  }
  built.deprecated = rows.deprecated_in_use();
  built.options = options;
  built.options.rules.clear();
  for (const BuiltConfiguration::Rule& rule : built.rules)
    built.options.rules.push_back(rule.options);
  return built;
}

}  // namespace heatsink::app
