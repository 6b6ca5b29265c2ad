// SPDX-License-Identifier: Apache-2.0
// heatsink alert test: sends a test alert to the targets of a configuration.
#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <iostream>
#include <string>

#include "apps/heatsink/alert_watch.h"
#include "apps/heatsink/configuration.h"
#include "apps/heatsink/flags.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/alerts/alerts.h"
#include "heatsink/base/log.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

alerts::Letterhead head_of(const policy::ProxyOptions& options) {
  const Result<net::Endpoint> listen = net::parse_endpoint(options.listen);
  const Result<net::RedisUrl> upstream = net::parse_upstream_url(options.upstream);
  return {.instance = instance_name(options, listen.ok() ? listen->tcp.port : 0),
          .upstream = upstream.ok() ? upstream->where() : "",
          .boot = BootClock::now(),
          .wall = std::chrono::system_clock::now()};
}

// One attempt for each target.
int send_test(const policy::ProxyOptions& options) {
  const Result<std::vector<alerts::Target>> targets =
      alerts::targets_of(options.alerts, [&options] { return head_of(options); });
  if (!targets.ok()) {
    std::cerr << "heatsink alert: " << targets.error().message << "\n";
    return kFailed;
  }
  const std::atomic<bool> stop{false};
  bool is_good = true;
  for (const alerts::Target& target : *targets) {
    const alerts::Outcome outcome = target.send({alerts::test_notice(BootClock::now())}, stop);
    const bool is_delivered = outcome.kind == alerts::Outcome::Kind::kDelivered;
    (is_delivered ? std::cout : std::cerr)
        << target.shown << (is_delivered ? " takes alerts" : ": " + outcome.problem) << std::endl;
    is_good = is_good && is_delivered;
  }
  if (options.alerts.log) {
    std::cout << "alerts.log is true: in the proxy, alerts are lines of its log" << std::endl;
  }
  return is_good && std::cout.good() ? kDone : kFailed;
}

}  // namespace

int run_alert(int argc, char** argv) {
  CLI::App app(
      "Sends one test alert to each target of a configuration, alerts.webhook and alerts.command, "
      "and says what came of it. "
      "Exits with 0 if all took it, 1 if not, 2 after a wrong command line or configuration.",
      argv[0]);
  app.require_subcommand(1);
  ConfigurationFlags flags;
  CLI::App* const test = app.add_subcommand("test", "Send a test alert to each target");
  add_configuration_flags(*test, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  policy::ProxyOptions options;
  OptionSet rows;
  options.describe(rows);
  ConfigFaults faults = apply_configuration(flags, rows);
  add_contradictions(options, rows, faults);
  if (faults.empty() && !options.alerts.has_target())
    faults.push_back(
        invalid_argument("no target is set: set alerts.webhook-file, alerts.webhook, "
                         "alerts.command or alerts.log, in the file of --config or with --set"));
  print_faults(faults, "heatsink alert", std::cerr);
  if (!faults.empty()) return kMisused;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // a parent may have it ignored
  return send_test(options);
}

}  // namespace heatsink::app
