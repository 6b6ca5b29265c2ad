// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/deployment_watch.h"

#include <utility>

#include "apps/heatsink/history_file.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
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

}  // namespace heatsink::app
