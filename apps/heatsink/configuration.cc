// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/configuration.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/option_list.h"
#include "heatsink/base/option_print.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/announced.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {
namespace {

template <class T>
void require_readable(ConfigFaults& faults, std::string_view option, const Result<T>& read) {
  if (read.ok()) return;
  faults.push_back({read.error().code, std::string(option) + ": " + read.error().message});
}

void require(ConfigFaults& faults, bool truth, std::string_view sentence) {
  if (!truth) faults.push_back(invalid_argument(std::string(sentence)));
}

void check_token(ConfigFaults& faults, const policy::ProxyOptions& options) {
  require(faults, options.admin_token.empty() || options.admin_token_file.empty(),
          "admin.token and admin.token-file are both set: keep one of them");
  require(faults, options.admin_token != net::kHiddenPassword,
          "admin.token is '***', the mark with which 'heatsink config print' hides the token: "
          "write the token, or set admin.token-file");
  if (!options.admin_token.empty())
    require_readable(faults, "admin.token", check_secret(options.admin_token));
}

void check_admin(ConfigFaults& faults, const policy::ProxyOptions& options) {
  check_token(faults, options);
  if (options.admin == "off") return;
  const Result<net::HostPort> address = net::parse_host_port(options.admin);
  require_readable(faults, "admin.listen", address);
  if (!address.ok()) return;
  const Status usable = httpd::check_address(
      *address, !options.admin_token.empty() || !options.admin_token_file.empty());
  if (!usable.ok())
    faults.push_back({usable.error().code, "admin.listen: " + usable.error().message});
}

// Refuses a password that 'config print' has hidden: the server would refuse it, too. Clients
// choose their databases themselves, and start in 0 as without the proxy.
void check_upstream(ConfigFaults& faults, const policy::ProxyOptions& options) {
  const Result<net::RedisUrl> upstream = net::parse_upstream_url(options.upstream);
  if (upstream.ok()) {
    for (const std::string& fault : policy::tls_faults(options, *upstream))
      require(faults, false, fault);
  }
  require_readable(faults, "upstream.url", upstream);
  require(faults, !upstream.ok() || upstream->db == 0,
          "upstream.url names a database: remove it; "
          "the proxy serves all databases, and each client selects its own (SELECT)");
  require(faults,
          !upstream.ok() || upstream->password.empty() || options.upstream_password_file.empty(),
          "upstream.password-file is set, and upstream.url has a password too: keep one of them");
  require(faults,
          !upstream.ok() || upstream->topology == net::Topology::kSentinel ||
              (options.sentinel_user.empty() && options.sentinel_password_file.empty()),
          "upstream.sentinel-* is set, but upstream.url names no Sentinels: "
          "use redis+sentinel://host:26379/NAME, or remove upstream.sentinel-*");
  require(faults, !upstream.ok() || upstream->password != net::kHiddenPassword,
          "upstream.url has the password '***', "
          "the mark with which 'heatsink config print' hides it: "
          "write the password, or set upstream.password-file");
}

void check_rules(ConfigFaults& faults, const policy::ProxyOptions& options,
                 const OptionList& rules) {
  for (const policy::RuleFault& fault : policy::rule_faults(options)) {
    const std::string& match = options.rules[fault.rule].match;
    const std::string name = match.empty() ? "" : " (" + printable(match, 64) + ")";
    faults.push_back(invalid_argument(rules.origin(fault.rule) + ": rule " +
                                      std::to_string(fault.rule + 1) + name + ": " +
                                      fault.sentence));
    if (faults.size() >= kConfigFaultsMax) return;
  }
}

void check_warming(ConfigFaults& faults, const policy::ProxyOptions& options,
                   const OptionList& items) {
  for (const policy::WarmingFault& fault : policy::warming_faults(options.warming)) {
    if (faults.size() >= kConfigFaultsMax) return;
    faults.push_back(invalid_argument(items.origin(fault.item) + ": warming " +
                                      std::to_string(fault.item + 1) + ": " + fault.sentence));
  }
}

// Whether a sentence names an option, or a rule by its number: "rule 1" is not in "rule 12".
bool names(std::string_view sentence, std::string_view name) {
  const auto goes_on = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  };
  for (std::size_t at = sentence.find(name); at != std::string_view::npos;
       at = sentence.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !(goes_on(sentence[at - 1]) || sentence[at - 1] == '.');
    if (begins && (end == sentence.size() || !goes_on(sentence[end]))) return true;
  }
  return false;
}

}  // namespace

ConfigFaults apply_configuration(const ConfigurationFlags& flags, OptionSet& options) {
  ConfigFaults faults;
  if (!flags.file.empty())
    append_faults(faults, load_config_file(flags.file, options, OnFault::kKeepTheRest));
  append_faults(faults, apply_configuration_flags(flags, options));
  return faults;
}

ConfigFaults apply_configuration_flags(const ConfigurationFlags& flags, OptionSet& options) {
  ConfigFaults faults;
  for (const std::string& assignment : flags.assignments) {
    const Status set = options.set_assignment(assignment);
    if (!set.ok()) faults.push_back({set.error().code, "--set: " + set.error().message});
  }
  for (const std::string& rule : flags.rules) {
    for (const Error& fault : options.find_list("rules")->add_item(rule, "--rule"))
      faults.push_back({fault.code, "--rule: " + fault.message});
  }
  return faults;
}

ConfigFaults contradictions(const policy::ProxyOptions& options, const OptionSet& rows) {
  ConfigFaults faults;
  require_readable(faults, "proxy.listen", net::parse_endpoint(options.listen));
  require_readable(faults, "proxy.unix-mode", net::parse_file_mode(options.unix_mode));
  check_upstream(faults, options);
  check_admin(faults, options);
  require(faults, options.backoff_min <= options.backoff_max,
          "upstream.backoff-min must not be longer than upstream.backoff-max");
  require(faults, options.tick <= options.window,
          "detection.tick must not be longer than detection.window");
  require(faults, 2 * options.heartbeat_interval <= options.max_staleness,
          "cache.heartbeat-interval must be at most half of cache.max-staleness: "
          "otherwise one lost heartbeat would stop local reads");
  require(faults, options.maximum_value_bytes <= options.maximum_bytes,
          "cache.maximum-value-bytes must not be larger than cache.maximum-bytes");
  if (std::string fault = policy::fleet_fault(options); !fault.empty())
    faults.push_back(invalid_argument(std::move(fault)));
  require(faults, policy::announced_fault(options).empty(), policy::announced_fault(options));
  if (std::string fault = policy::automatic_fault(options); !fault.empty())
    faults.push_back(invalid_argument(std::move(fault)));
  for (const std::string& fault : policy::alert_faults(options.alerts))
    require(faults, false, fault);
  check_rules(faults, options, *rows.find_list("rules"));
  check_warming(faults, options, *rows.find_list("warming"));
  return faults;
}

ConfigFaults contradictions_of(const policy::ProxyOptions& options) {
  policy::ProxyOptions copy;
  OptionSet rows;
  copy.describe(rows);
  // The lists know their items only by their origins.
  for (std::size_t i = 0; i < options.rules.size(); ++i)
    rows.find_list("rules")->append("the configuration");
  for (std::size_t i = 0; i < options.warming.size(); ++i)
    rows.find_list("warming")->append("the configuration");
  return contradictions(options, rows);
}

void add_contradictions(const policy::ProxyOptions& options, const OptionSet& rows,
                        ConfigFaults& faults) {
  std::vector<std::string> faulty;  // names that already have a fault
  const auto add_if_told = [&](std::string name) {
    const bool told = std::any_of(faults.begin(), faults.end(),
                                  [&](const Error& fault) { return names(fault.message, name); });
    if (told) faulty.push_back(std::move(name));
  };
  for (const OptionRow& row : rows.rows()) add_if_told(row.name);
  for (std::size_t i = 1; i <= options.rules.size(); ++i) add_if_told("rule " + std::to_string(i));
  for (std::size_t i = 1; i <= options.warming.size(); ++i)
    add_if_told("warming " + std::to_string(i));
  for (Error& fault : contradictions(options, rows)) {
    if (faults.size() >= kConfigFaultsMax) return;
    const bool follows = std::any_of(faulty.begin(), faulty.end(), [&](const std::string& name) {
      return names(fault.message, name);
    });
    if (!follows) faults.push_back(std::move(fault));
  }
}

void print_faults(const ConfigFaults& faults, std::string_view program, std::ostream& err) {
  for (const Error& fault : faults) err << program << ": " << fault.message << "\n";
}

void print_deprecated(const OptionSet& options, std::string_view program, std::ostream& err) {
  for (const std::string& sentence : options.deprecated_in_use())
    err << program << ": warning: " << sentence << "\n";
}

std::string options_page(const OptionSet& options) {
  return R"(# Options

<!-- Generated by `heatsink config print --markdown`; each row stands beside its code. -->

All options of `heatsink proxy`, with defaults and bounds. Each can stand in the configuration file,
nested or with dots, and on the command line, which takes precedence.
[Rules](../guides/configuration.md) are a list in the file, and one `--rule` each on the command
line; they follow those of the file.

```yaml
# heatsink.yaml
detection:
  window: 30s
  hot-qps: 500
cache.maximum-bytes: 256mb
rules:
  - {match: "session:*", level: off}
```

```sh
heatsink proxy --config heatsink.yaml --set detection.window=10s --rule 'match=cart:*,hot-qps=50'
heatsink config print --config heatsink.yaml   # all options with their values, as a commented file
heatsink config check heatsink.yaml            # ok, or all faults with their lines
```

| type | how to write it |
|---|---|
| duration | with `us`, `ms`, `s`, `m` or `h`: `250ms` |
| size | with `b`, `kb`, `mb` or `gb`, powers of 1024: `64mb` |
| share | with `%`, or as a number from 0 to 1: `2%` is `0.02` |
| boolean | `true` or `false`, also `yes`, `no`, `on`, `off` |

)" + to_markdown(options);
}

}  // namespace heatsink::app
