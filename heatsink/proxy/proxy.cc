// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/proxy.h"

#include <pthread.h>

#include <thread>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/proxy/keeper.h"
#include "heatsink/proxy/key_metrics.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr MetricRow kHitsByCommand{"heatsink_local_hits_by_command_total", MetricKind::kCounter,
                                   "Commands answered from local copies, by command."};
constexpr MetricRow kClients{"heatsink_clients", MetricKind::kGauge,
                             "Client connections now open."};
constexpr MetricRow kBuffers{"heatsink_client_buffers_bytes", MetricKind::kGauge,
                             "Bytes of requests and replies now kept for clients, in steps of 64 "
                             "KiB for each (proxy.maximum-memory)."};
constexpr MetricRow kPrivate{"heatsink_private_connections", MetricKind::kGauge,
                             "Private connections to the server that clients now hold."};
constexpr MetricRow kUp{
    "heatsink_coherence_up", MetricKind::kGauge,
    "1 while the server proves that it sends invalidations, so that copies may be served."};
constexpr MetricRow kEntries{"heatsink_cache_entries", MetricKind::kGauge,
                             "Local copies now held."};
constexpr MetricRow kBytes{"heatsink_cache_bytes", MetricKind::kGauge,
                           "Bytes of the local copies now held."};
constexpr MetricRow kTracked{"heatsink_tracked_keys", MetricKind::kGauge,
                             "Names that the server remembers for the proxy's tracking connection, "
                             "of cache.maximum-tracked-keys."};
constexpr MetricRow kHot{"heatsink_hot_keys", MetricKind::kGauge, "Keys that are hot now."};
constexpr MetricRow kWriteHot{"heatsink_write_hot_keys", MetricKind::kGauge,
                              "Keys that are write-hot now: busy, but not worth a copy."};
constexpr MetricRow kStaleness{
    "heatsink_audit_staleness_seconds", MetricKind::kHistogram,
    "Of hits whose key has another value by the time of the audit: for how long, at least, the "
    "copy "
    "could be served after the server had answered that value. 0: it was gone by then."};
constexpr MetricRow kLogDropped{
    "heatsink_log_dropped_total", MetricKind::kCounter,
    "Log lines that were not written: the log was not read fast enough, or its file took none."};
constexpr MetricRow kWarm{"heatsink_warm_keys", MetricKind::kGauge, "Keys that are warm now."};

struct Listeners {
  std::vector<net::Fd> sockets;  // one for each worker
  net::SocketFile file;          // of a Unix socket
};

Result<Listeners> listen_tcp(const net::HostPort& address, std::size_t workers) {
  if (const Status unused = net::check_unused(address); !unused.ok()) return unused.error();
  Listeners listeners;
  net::HostPort each = address;
  for (std::size_t i = 0; i < workers; ++i) {
    Result<net::Fd> listener = net::listen_tcp(each);
    if (!listener.ok()) return listener.error();
    listeners.sockets.push_back(std::move(listener).value());
    each.port = net::local_port(listeners.sockets.front());  // all share the first one's
  }
  return listeners;
}

Result<Listeners> listen_all(const ProxyOptions& options) {
  const auto workers = static_cast<std::size_t>(options.workers);
  Result<net::Endpoint> endpoint = net::parse_endpoint(options.listen);
  if (!endpoint.ok()) return endpoint.error();
  if (!endpoint->is_unix()) return listen_tcp(endpoint->tcp, workers);
  const Result<mode_t> mode = net::parse_file_mode(options.unix_mode);
  if (!mode.ok()) return mode.error();
  Result<net::UnixListener> listener = net::listen_unix(endpoint->unix_path, *mode, workers);
  if (!listener.ok()) return listener.error();
  return Listeners{std::move(listener->sockets), std::move(listener->file)};
}

// For `top -H` and debuggers; at most 15 characters.
void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

Result<KeyDisplay> display_of(const ProxyOptions& options) {
  if (options.redact_keys == "off") return KeyDisplay();
  if (options.redact_secret_file.empty()) return KeyDisplay::hashed(random_secret());
  Result<std::string> secret = read_secret_file(options.redact_secret_file);
  if (!secret.ok()) return secret.error();
  return KeyDisplay::hashed(std::move(secret).value());
}

}  // namespace

struct Proxy::Threads {
  Threads(const ProxyOptions& options, net::RedisUrl upstream, std::uint64_t seed, KeyDisplay shown)
      : shared(options, std::move(upstream), seed, std::move(shown)), keeper(shared) {}

  ~Threads() {
    for (auto& worker : workers) worker->stop();
    for (std::thread& thread : threads) thread.join();
    keeper.stop();
    if (keeper_thread.joinable()) keeper_thread.join();
  }

  void start(Listeners listeners) {
    socket_file = std::move(listeners.file);
    if (!net::parse_endpoint(shared.options.listen)->is_unix())
      port = net::local_port(listeners.sockets.front());
    std::vector<Worker*> served;
    for (net::Fd& listener : listeners.sockets) {
      workers.push_back(
          std::make_unique<Worker>(shared, keeper, workers.size(), std::move(listener)));
      served.push_back(workers.back().get());
    }
    keeper.serve(std::move(served));
    keeper_thread = std::thread([this] {
      name_this_thread("keeper");
      keeper.run();
    });
    for (auto& worker : workers) {
      threads.emplace_back([&worker] {
        name_this_thread("worker");
        worker->run();
      });
    }
  }

  SharedState shared;
  net::SocketFile socket_file;
  Keeper keeper;
  std::vector<std::unique_ptr<Worker>> workers;
  std::uint16_t port = 0;
  std::thread keeper_thread;
  std::vector<std::thread> threads;
};

Result<std::unique_ptr<Proxy>> Proxy::start(const ProxyOptions& given, std::uint64_t seed) {
  ProxyOptions options = given;
  if (options.workers == 0) options.workers = std::max(1u, std::thread::hardware_concurrency());
  Result<net::RedisUrl> upstream = net::parse_redis_url(options.upstream);
  if (!upstream.ok()) return upstream.error();
  if (const Result<detect::RuleSet> rules = rule_set(options); !rules.ok()) return rules.error();
  Result<KeyDisplay> shown = display_of(options);
  if (!shown.ok()) return shown.error();
  Result<TlsContexts> tls = load_tls(options, *upstream);
  if (!tls.ok()) return tls.error();
  if (upstream->tls && !options.upstream_tls_verify)
    log(LogLevel::kWarning, "upstream.tls-verify is off: anybody could be the server");
  Result<std::vector<net::ResolvedAddress>> addresses = net::resolve_server(*upstream);
  if (!addresses.ok()) return addresses.error();
  Result<Listeners> listeners = listen_all(options);
  if (!listeners.ok()) return listeners.error();

  auto threads = std::make_unique<Threads>(options, std::move(*upstream), seed, std::move(*shown));
  threads->shared.set_tls(*std::move(tls));
  threads->shared.place.set_addresses(std::move(*addresses));
  threads->start(std::move(*listeners));
  return std::unique_ptr<Proxy>(new Proxy(std::move(threads)));
}

Proxy::Proxy(std::unique_ptr<Threads> threads) : threads_(std::move(threads)) {}
Proxy::~Proxy() = default;

Status Proxy::reload_tls() {
  SharedState& shared = threads_->shared;
  Result<TlsContexts> tls = load_tls(shared.options, shared.upstream);
  if (!tls.ok()) return tls.error();
  shared.set_tls(*std::move(tls));
  return Unit{};
}

std::uint16_t Proxy::port() const { return threads_->port; }
detect::Report Proxy::report() const { return threads_->keeper.report(); }

std::vector<detect::Event> Proxy::events() const { return threads_->keeper.events(); }

detect::WarmReport Proxy::warm(detect::WarmOrder order) {
  return threads_->keeper.warm(std::move(order));
}

detect::WarmReport Proxy::warmed(std::uint64_t search) const {
  return threads_->keeper.warmed(search);
}

detect::KeyInspection Proxy::inspect(std::string name, std::uint32_t db) const {
  return threads_->keeper.inspect(std::move(name), db);
}

Status Proxy::ready() const {
  const detect::Report report = threads_->keeper.report();
  if (report.upstream_up) return Unit{};
  return Error{ErrorCode::kUnavailable,
               "upstream " + report.upstream + " is not reachable: " + report.coherence};
}

MetricSamples Proxy::metrics() const {
  MetricSamples samples;
  append_samples(samples, [this](Count count) {
    std::uint64_t sum = threads_->keeper.counters().read(count);
    for (const auto& worker : threads_->workers) sum += worker->counters().read(count);
    return sum;
  });
  samples.push_back(threads_->keeper.staleness().sample(kStaleness));
  for (const LocalRead& read : local_reads()) {
    std::uint64_t sum = 0;
    for (const auto& worker : threads_->workers) sum += worker->read_hits().of(read);
    samples.push_back(
        {&kHitsByCommand, static_cast<double>(sum), {{"command", std::string(read.name)}}});
  }
  const detect::Report report = threads_->keeper.report();
  const auto gauge = [&](const MetricRow& row, std::uint64_t value) {
    samples.push_back({&row, static_cast<double>(value)});
  };
  gauge(kLogDropped, log_lines_dropped());
  append_key_samples(samples, report,
                     static_cast<std::size_t>(threads_->shared.options.metrics_keys));
  if (threads_->shared.limits) threads_->shared.limits->append_samples(samples);
  gauge(kClients, report.clients);
  gauge(kBuffers, threads_->shared.memory.used_bytes());
  gauge(kPrivate, threads_->shared.private_connections.load());
  gauge(kUp, threads_->shared.lease.up() ? 1 : 0);
  gauge(kEntries, report.cached_entries);
  gauge(kBytes, report.cached_bytes);
  gauge(kTracked, threads_->shared.tracked_keys.load(std::memory_order_relaxed));
  gauge(kHot, report.hot_keys);
  gauge(kWriteHot, report.write_hot_keys);
  gauge(kWarm, report.keys.size() - report.hot_keys - report.write_hot_keys);
  return samples;
}

}  // namespace heatsink::proxy
