// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/alert_watch.h"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <string>

#include "heatsink/base/printable.h"
#include "heatsink/net/net.h"

namespace heatsink::app {

std::string instance_name(const policy::ProxyOptions& options, std::uint16_t port) {
  std::array<char, HOST_NAME_MAX + 1> machine{};
  gethostname(machine.data(), machine.size() - 1);
  const Result<net::Endpoint> listen = net::parse_endpoint(options.listen);
  const std::string where = port != 0     ? std::to_string(port)
                            : listen.ok() ? listen->text()
                                          : options.listen;
  return printable(machine.data()) + ":" + printable(where);
}

namespace {

std::string state_file_of(const policy::ProxyOptions& options) {
  return options.history_file.empty() ? "" : options.history_file + ".alerts";
}

}  // namespace

Result<std::unique_ptr<alerts::Alerter>> watch_for_alerts(const policy::ProxyOptions& options,
                                                          const proxy::Proxy& proxy) {
  if (!options.alerts.has_target()) return std::unique_ptr<alerts::Alerter>();
  return alerts::Alerter::start(options.alerts, {.report = [&proxy] { return proxy.report(); },
                                                 .instance = instance_name(options, proxy.port()),
                                                 .state_file = state_file_of(options)});
}

}  // namespace heatsink::app
