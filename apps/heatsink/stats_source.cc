// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/stats_source.h"

#include <chrono>
#include <memory>
#include <utility>

#include "apps/heatsink/stats_report.h"
#include "heatsink/distributed/distributed.h"

namespace heatsink::app {
namespace {

constexpr Nanos kStatisticTimeout = std::chrono::seconds(1);

distributed::ServerOptions server_of(const policy::ProxyOptions& options) {
  distributed::ServerOptions server;
  server.url = options.upstream;
  server.tls_ca = options.upstream_tls_ca;
  server.tls_cert = options.upstream_tls_cert;
  server.tls_key = options.upstream_tls_key;
  server.tls_server_name = options.upstream_tls_server_name;
  server.tls_verify = options.upstream_tls_verify;
  server.connect_timeout = server.response_timeout = kStatisticTimeout;
  server.client_name = "heatsink-admin";
  server.translate = options.upstream_translate;
  return server;
}

// The configuration may have changed since the connection was made.
bool has_other_login(const policy::ProxyOptions& a, const policy::ProxyOptions& b) {
  return a.upstream != b.upstream || a.upstream_tls_ca != b.upstream_tls_ca ||
         a.upstream_tls_cert != b.upstream_tls_cert || a.upstream_tls_key != b.upstream_tls_key ||
         a.upstream_tls_server_name != b.upstream_tls_server_name ||
         a.upstream_tls_verify != b.upstream_tls_verify;
}

}  // namespace

std::function<Result<std::string>(const std::string& name, Nanos window)> statistic_source(
    std::function<policy::ProxyOptions()> options) {
  auto server = std::make_shared<std::unique_ptr<distributed::Server>>();
  auto opened_with = std::make_shared<policy::ProxyOptions>();
  return [server, opened_with, options = std::move(options)](const std::string& name,
                                                             Nanos window) -> Result<std::string> {
    policy::ProxyOptions now = options();
    if (has_other_login(*opened_with, now)) server->reset();
    if (!*server) {
      auto opened = distributed::Server::open(server_of(now));
      *opened_with = std::move(now);
      if (!opened.ok()) return opened.error();
      *server = std::move(opened).value();
    }
    auto reading = distributed::read_statistic(**server, name, std::chrono::ceil<Millis>(window),
                                               BootClock::now() + 2 * kStatisticTimeout);
    if (!reading.ok()) return reading.error();
    return stats_json(NamedReading{name, std::move(reading).value()});
  };
}

}  // namespace heatsink::app
