// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/link_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/cache/cache.h"

namespace heatsink::client {
namespace {

// How often the tracker asks for the rights of its user.
constexpr Nanos kRightsInterval = Millis(500);

topology::AddressTranslation translation_of(const ClientOptions& options) {
  Result<topology::AddressTranslation> pairs =
      topology::AddressTranslation::parse(options.server_translate);
  if (!pairs.ok()) throw std::invalid_argument("server.translate: " + pairs.error().message);
  return std::move(pairs).value();
}

redis::TrackerOptions tracker_options(const ClientOptions& options, const net::RedisUrl& url) {
  redis::TrackerOptions tracker;
  tracker.credentials = {url.user, url.password};
  tracker.rights_interval = kRightsInterval;
  tracker.heartbeat_key = options.heartbeat_key;
  tracker.heartbeat_interval = options.heartbeat_interval;
  tracker.max_staleness = options.max_staleness;
  tracker.swap_interval = options.max_staleness / 2;
  tracker.epoch_interval = cache::epoch_interval(options.max_staleness);
  tracker.fill_timeout = options.max_staleness;
  tracker.response_timeout = options.server_response_timeout;
  return tracker;
}

}  // namespace

net::RedisUrl url_of(const ClientOptions& options) {
  Result<net::RedisUrl> url = net::parse_upstream_url(options.server_url);
  if (!url.ok()) throw std::invalid_argument("server.url: " + url.error().message);
  return std::move(url).value();
}

net::TlsContext tls_of(const ClientOptions& options, const net::RedisUrl& url) {
  if (!url.tls) return {};
  if (!options.server_tls_verify)
    log(LogLevel::kWarning, "server.tls-verify is off: the server's identity is not checked");
  const std::string& name = options.server_tls_server_name;
  Result<net::TlsContext> context = net::TlsContext::client(
      {options.server_tls_ca, options.server_tls_cert, options.server_tls_key,
       name.empty() ? url.address.host : name, options.server_tls_verify, !name.empty()});
  if (!context.ok()) throw std::invalid_argument("server.tls-*: " + context.error().message);
  return std::move(context).value();
}

topology::KeyServersOptions key_servers_options(const ClientOptions& options,
                                                const net::RedisUrl& url,
                                                const net::TlsContext& tls, Runtime& runtime,
                                                std::atomic<std::uint64_t>* own_commands) {
  topology::KeyServersOptions servers;
  servers.url = url;
  servers.tls = tls;
  servers.sentinel_credentials = {options.server_sentinel_user, options.server_sentinel_password};
  servers.translation = translation_of(options);
  servers.tracker = tracker_options(options, url);
  servers.pipeline.credentials = {url.user, url.password};
  servers.pipeline.db = url.db;
  servers.pipeline.counts_requests = false;  // they are the application's
  servers.pipeline.response_timeout = options.server_response_timeout;
  servers.connection = [&options, &runtime, own_commands] {
    return redis::ServerConnectionOptions{.connect_timeout = options.server_connect_timeout,
                                          .backoff_min = options.server_backoff_min,
                                          .backoff_max = options.server_backoff_max,
                                          .seed = runtime.draw_seed(),
                                          .commands = own_commands};
  };
  servers.max_staleness = options.max_staleness;
  servers.copy_life = options.expire_after_write;
  return servers;
}

fleet::LinkOptions fleet_options(const ClientOptions& options, const net::RedisUrl& url,
                                 const net::TlsContext& tls, Runtime& runtime,
                                 std::uint64_t hash_seed) {
  fleet::LinkOptions link;
  link.url = url;
  link.tls = tls;
  link.server.connect_timeout = options.server_connect_timeout;
  link.server.response_timeout = options.server_response_timeout;
  link.server.backoff_min = options.server_backoff_min;
  link.server.backoff_max = options.server_backoff_max;
  link.server.translate = options.server_translate;
  link.member.fleet = options.fleet_name;
  link.member.shards = static_cast<std::uint64_t>(options.fleet_shards);
  link.member.id = fmt::format("{:016x}", runtime.draw_seed());
  link.member.interval = options.fleet_interval;
  link.member.seed = hash_seed;
  link.member.random_seed = runtime.draw_seed();
  return link;
}

}  // namespace heatsink::client
