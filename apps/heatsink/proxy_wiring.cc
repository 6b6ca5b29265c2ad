// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/proxy_wiring.h"

#include <chrono>
#include <fstream>
#include <memory>
#include <utility>

#include "apps/heatsink/history_file.h"
#include "apps/heatsink/live_json.h"
#include "apps/heatsink/stats_report.h"
#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"
#include "heatsink/distributed/distributed.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kTokensFileBytesMax = 128 * 1024;

Status set_log(const policy::ProxyOptions& options) {
  const Status opened = set_log_output(options.log_file, options.log_format);
  return opened.ok() ? opened : Error{opened.error().code, "log.file: " + opened.error().message};
}

bool has_other_log(const policy::ProxyOptions& a, const policy::ProxyOptions& b) {
  return a.log_file != b.log_file || a.log_format != b.log_format;
}

// Whatever can fail comes before the proxy's first change; the log goes back after a failure.
Result<std::uint64_t> apply_to(proxy::Proxy& proxy, httpd::HttpServer* admin,
                               const policy::ProxyOptions& before,
                               const policy::ProxyOptions& next) {
  Result<httpd::Tokens> token = token_of(next);
  if (!token.ok()) return token.error();
  const bool other_log = has_other_log(before, next);
  if (other_log) {
    if (const Status opened = set_log(next); !opened.ok()) return opened.error();
  }
  Result<std::uint64_t> applied = proxy.apply(next);
  const bool holds = applied.ok() || applied.error().code == ErrorCode::kTimedOut;
  if (!holds) {
    if (other_log) static_cast<void>(set_log(before));
    return applied;
  }
  set_log_level(next.log_level);
  if (admin != nullptr) admin->set_token(std::move(token).value());
  return applied;
}

}  // namespace

Result<httpd::Tokens> token_of(const policy::ProxyOptions& options) {
  if (options.admin_token_file.empty()) return httpd::Tokens(options.admin_token);
  const std::string named = "the secret file '" + printable(options.admin_token_file) + "'";
  std::ifstream file(options.admin_token_file, std::ios::binary);
  std::string text(kTokensFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof()))
    return Error{ErrorCode::kUnavailable,
                 named + " cannot be read: check that it exists and its permissions"};
  text.resize(static_cast<std::size_t>(file.gcount()));
  Result<httpd::Tokens> tokens = httpd::Tokens::parse(text);
  if (tokens.ok()) return tokens;
  return Error{tokens.error().code, named + ": " + tokens.error().message};
}

Status open_log(const policy::ProxyOptions& options) {
  set_log_level(options.log_level);
  return set_log(options);
}

LiveTarget live_target(proxy::Proxy& proxy, const std::unique_ptr<httpd::HttpServer>& admin,
                       const std::unique_ptr<alerts::Alerter>& alerts) {
  LiveTarget target;
  target.apply = [&proxy, &admin, &alerts](const policy::ProxyOptions& before,
                                           const policy::ProxyOptions& next) {
    Result<std::uint64_t> applied = apply_to(proxy, admin.get(), before, next);
    if (applied.ok() && alerts != nullptr) alerts->apply(next.alerts);
    return applied;
  };
  target.reload_files = [&proxy, &admin](const policy::ProxyOptions& now) -> Status {
    Result<httpd::Tokens> token = token_of(now);
    if (!token.ok()) return token.error();
    if (Status read = proxy.reload_tls(); !read.ok()) return read;
    if (admin != nullptr) admin->set_token(std::move(token).value());
    return Unit{};
  };
  target.add_event = [&proxy](report::Event::Config config, std::string reason) {
    proxy.add_config_event(config, std::move(reason));
  };
  const policy::KeyDisplay& shown = proxy.shown();
  target.hides_names = shown.redacts();
  target.shown = [&shown](std::string_view name) { return shown.show(name); };
  target.now = [] { return std::chrono::system_clock::now(); };
  return target;
}

void add_config_pages(admin::Sources& sources, LiveConfiguration& live) {
  const auto answer = [](const ConfigAnswer& made) -> admin::Sources::ConfigAnswer {
    return {made.outcome != ConfigOutcome::kRefused, change_json(made)};
  };
  sources.config = [&live] { return config_json(live.effective(), live.shown()); };
  sources.matches = [&live] {
    std::vector<std::string> matches;
    for (const policy::RuleOptions& rule : live.effective().options.rules)
      matches.push_back(rule.match);
    return matches;
  };
  sources.change_config = [&live, answer](const report::ConfigOrder& order, std::string_view who) {
    return answer(live.apply(order, who));
  };
  sources.change_rules = [&live, answer](const report::RuleOrder& order, std::string_view who) {
    return answer(live.change_rules(order, who));
  };
}

namespace {

doctor::Facts look(const policy::ProxyOptions& options, const Result<net::RedisUrl>& upstream,
                   doctor::When when, const std::atomic<bool>& stop) {
  doctor::Facts facts;
  facts.options = options;
  facts.configured = facts.upstream = *net::parse_upstream_url(options.upstream);
  if (upstream.ok()) facts.upstream = *upstream;
  doctor::ProbeOptions how;
  how.is_thorough = when == doctor::When::kStart;
  how.stop = &stop;
  if (how.is_thorough) facts.machine = doctor::look_at_machine(options);
  facts.machine.now = std::chrono::system_clock::now();
  if (upstream.ok()) {
    facts.server = doctor::look_at_server(options, *upstream, how);
  } else {
    facts.server = doctor::without_master(facts.upstream, upstream.error().message);
  }
  return facts;
}

}  // namespace

std::unique_ptr<doctor::Watch> watch_deployment(const policy::ProxyOptions& options,
                                                const proxy::Proxy& proxy) {
  if (!options.doctor_enabled) return nullptr;
  doctor::Watch::Sources sources;
  sources.look = [options, &proxy](doctor::When when, const std::atomic<bool>& stop) {
    return look(options, proxy.upstream(), when, stop);
  };
  sources.contacts = [&proxy] { return proxy.contact_changes(); };
  return std::make_unique<doctor::Watch>(std::move(sources));
}

void add_health(admin::Sources& sources, const proxy::Proxy& proxy, const doctor::Watch* watch,
                const history::Writer* history) {
  if (watch == nullptr) {
    sources.ready = [&proxy] { return proxy.ready(); };
    return;
  }
  sources.ready = [&proxy, watch] { return watch->verdict(proxy.ready()); };
  sources.health = [&proxy, watch, history] {
    doctor::Diagnosis diagnosis = watch->diagnosis(proxy.ready());
    add_finding(history, diagnosis);
    return doctor::diagnosis_json(diagnosis);
  };
}

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
