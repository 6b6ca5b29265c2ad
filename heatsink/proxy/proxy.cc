// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/proxy.h"

#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/base/memory_reserve.h"
#include "heatsink/base/process_limits.h"
#include "heatsink/base/process_metrics.h"
#include "heatsink/base/sign_of_life.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/client_balancer.h"
#include "heatsink/proxy/descriptors.h"
#include "heatsink/proxy/listeners.h"
#include "heatsink/proxy/near_report.h"
#include "heatsink/proxy/proxy_metrics.h"
#include "heatsink/proxy/reconfiguration.h"
#include "heatsink/proxy/replica_metrics.h"
#include "heatsink/proxy/slots_seen.h"
#include "heatsink/proxy/thread_metrics.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

// A thread at rest gives a sign every two seconds, and one with the largest detection.tick every
// five (work_pace.h, copy_keeper.cc).
constexpr Nanos kStuckAfter = std::chrono::seconds(10);

Status alive_thread(const std::string& name, const SignOfLife& sign, TimePoint now) {
  const Nanos silence = sign.silence(now);
  if (silence <= kStuckAfter) return Unit{};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(silence).count();
  return Error{ErrorCode::kTimedOut, "the thread of " + name +
                                         " is stuck: it has done nothing for " +
                                         std::to_string(seconds) + " s"};
}

// For `top -H` and debuggers; at most 15 characters.
void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

// Opens a connection only if a rule has such a limit.
std::unique_ptr<fleet::ServerLimits> fleet_limits(const policy::ProxyOptions& options,
                                                  net::RedisUrl upstream,
                                                  const net::TlsContext& tls) {
  upstream.db = 0;
  distributed::ServerOptions server;
  server.connect_timeout = options.connect_timeout;
  server.response_timeout = std::min<Nanos>(options.response_timeout, std::chrono::seconds(1));
  server.backoff_min = options.backoff_min;
  server.backoff_max = options.backoff_max;
  server.client_name = "heatsink-limits";
  server.use = "limits of the fleet";
  server.translate = options.upstream_translate;
  auto limits = std::make_unique<fleet::ServerLimits>(options.fleet_name, std::move(upstream), tls,
                                                      std::move(server));
  limits->set_instances(static_cast<std::uint64_t>(options.fleet_size));
  return limits;
}

// The allocator raises this limit by itself up to 64 MiB per thread, and malloc_trim() leaves the
// end of a thread's heap alone (glibc 2.36): without it 30 MB of a burst stayed for good
// (docs/decisions/0049-idle-clients-keep-no-buffers.md).
void bound_unused_memory() { mallopt(M_TRIM_THRESHOLD, 1024 * 1024); }

}  // namespace

struct Proxy::Threads {
  Threads(const policy::ProxyOptions& options, net::RedisUrl upstream, std::uint64_t seed,
          policy::KeyDisplay shown, std::unique_ptr<fleet::ServerLimits> limits)
      : shared(options, std::move(upstream), seed, std::move(shown), std::move(limits)),
        keeper(shared) {}

  ~Threads() {
    // Workers stop before the keeper, because they call it until their threads end.
    for (auto& worker : workers) worker->stop();
    for (std::thread& thread : threads) thread.join();
    keeper.stop();
    if (keeper_thread.joinable()) keeper_thread.join();
  }

  void start(Listeners listeners, bool accepts) {
    socket_file = std::move(listeners.file);
    for (const net::Fd& listener : listeners.sockets) listener_numbers.push_back(listener.get());
    if (!net::parse_endpoint(shared.options().listen)->is_unix())
      port = net::local_port(listeners.sockets.front());
    std::vector<copies::KeeperListener*> served;
    std::vector<BalancedWorker*> balanced;
    const auto count = static_cast<std::size_t>(shared.options().workers);
    while (workers.size() < count) {
      workers.push_back(std::make_unique<Worker>(shared, keeper, workers.size(), net::Fd()));
      if (!accepts) workers.back()->accept_later();
      served.push_back(workers.back().get());
      balanced.push_back(workers.back().get());
    }
    for (std::size_t i = 0; i < listeners.sockets.size(); ++i)
      workers[i % count]->listen_on(std::move(listeners.sockets[i]));
    if (balanced.size() > 1) {
      balancer = std::make_unique<ClientBalancer>(std::move(balanced));
      for (auto& worker : workers) worker->balance_by(*balancer);
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

  // Whether all threads have followed in time.
  bool adopt(const std::shared_ptr<const copies::PolicySnapshot>& next, Nanos limit) {
    std::vector<Worker*> all;
    for (const auto& worker : workers) all.push_back(worker.get());
    // Shared, because the last thread may come after the limit.
    const auto adopted = std::make_shared<std::promise<void>>();
    std::future<void> all_have = adopted->get_future();
    reconfigure(keeper, all, next, [adopted] { adopted->set_value(); });
    return all_have.wait_for(limit) == std::future_status::ready;
  }

  // What is in RAM now and does not depend on clients.
  void note_fixed_memory() {
    const ResidentMemory resident = resident_memory();
    std::uint64_t others = resident.files + net::tls_memory_bytes();
    for (const auto& worker : workers) others += worker->memory().detection.load();
    shared.fixed_bytes = resident.all - std::min(resident.all, others);
  }

  SharedState shared;
  net::SocketFile socket_file;
  copies::CopyKeeper keeper;
  std::vector<std::unique_ptr<Worker>> workers;
  std::unique_ptr<ClientBalancer> balancer;  // null: there is one worker
  std::uint16_t port = 0;
  std::vector<int> listener_numbers;
  std::thread keeper_thread;
  std::vector<std::thread> threads;
};

// The system may refuse threads and memory, which their constructors throw.
Result<std::unique_ptr<Proxy>> Proxy::start(const policy::ProxyOptions& given, std::uint64_t seed,
                                            std::vector<net::Fd> inherited,
                                            copies::Recording recording) {
  bound_unused_memory();
  keep_memory_reserve();
  try {
    return start_or_throw(given, seed, std::move(inherited), std::move(recording));
  } catch (const std::system_error& refused) {
    return Error{ErrorCode::kUnavailable,
                 std::string("cannot start a thread: ") + refused.code().message() +
                     "; raise the limit of threads (ulimit -u, TasksMax of systemd, pids.max of "
                     "the control group) or of memory (ulimit -v), or lower proxy.workers"};
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kUnavailable,
                 "out of memory at the start; raise the limit (ulimit -v), or lower proxy.workers, "
                 "detection.memory or cache.maximum-size"};
  }
}

Result<std::unique_ptr<Proxy>> Proxy::start_or_throw(const policy::ProxyOptions& given,
                                                     std::uint64_t seed,
                                                     std::vector<net::Fd> inherited,
                                                     copies::Recording recording) {
  policy::ProxyOptions options = given;
  if (options.workers == 0)
    options.workers = std::clamp<std::int64_t>(std::llround(std::ceil(usable_cpus())), 1,
                                               policy::ProxyOptions::kWorkersMax);
  Result<net::RedisUrl> upstream = net::parse_upstream_url(options.upstream);
  if (!upstream.ok()) return upstream.error();
  // SharedState's constructor cannot report an error, so the rules are checked here.
  if (const Result<detect::RuleSet> rules = policy::rule_set(options); !rules.ok())
    return rules.error();
  Result<policy::KeyDisplay> shown = policy::key_display_of(options);
  if (!shown.ok()) return shown.error();
  Result<policy::TlsContexts> tls = policy::load_tls(options, *upstream);
  if (!tls.ok()) return tls.error();
  if (upstream->tls && !options.upstream_tls_verify)
    log(LogLevel::kWarning,
        "upstream.tls-verify is off: the server's identity is not checked; set it to true, and "
        "upstream.tls-ca to the CA of the server's certificate");
  // The addresses of a URL of Sentinels, or of a master and its replicas, are not the server's.
  Result<std::vector<net::ResolvedAddress>> addresses = topology::must_be_found(*upstream)
                                                            ? std::vector<net::ResolvedAddress>()
                                                            : net::resolve_server(*upstream);
  if (!addresses.ok()) return addresses.error();
  Result<DescriptorPlan> descriptors = plan_descriptors(options, raise_file_limit());
  if (!descriptors.ok()) return descriptors.error();
  if (!descriptors->warning.empty()) log(LogLevel::kWarning, descriptors->warning);
  const bool accepts = inherited.empty();
  Result<Listeners> listeners =
      accepts ? listen_all(options) : share(std::move(inherited), options);
  if (!listeners.ok()) return listeners.error();

  Result<topology::AddressTranslation> translation =
      topology::AddressTranslation::parse(options.upstream_translate);
  if (!translation.ok())
    return Error{translation.error().code, "upstream.translate: " + translation.error().message};
  if (const Result<topology::Zones> zones = topology::Zones::parse(options.zones); !zones.ok())
    return Error{zones.error().code, "upstream.zones: " + zones.error().message};
  std::unique_ptr<fleet::ServerLimits> limits = fleet_limits(options, *upstream, tls->upstream);
  auto threads = std::make_unique<Threads>(options, std::move(*upstream), seed, std::move(*shown),
                                           std::move(limits));
  threads->shared.cluster.translate_by(*std::move(translation));
  threads->shared.set_tls(*std::move(tls));
  threads->shared.upstream_address.set_addresses(std::move(*addresses));
  threads->shared.connections_max = descriptors->connections_max;
  threads->keeper.record_to(std::move(recording));
  threads->start(std::move(*listeners), accepts);
  threads->note_fixed_memory();
  return std::unique_ptr<Proxy>(new Proxy(std::move(threads)));
}

Proxy::Proxy(std::unique_ptr<Threads> threads) : threads_(std::move(threads)) {}
Proxy::~Proxy() = default;

policy::ProxyOptions Proxy::options() const { return threads_->shared.held()->options; }

Result<net::RedisUrl> Proxy::upstream() const {
  const redis::UpstreamAddress& server = threads_->shared.upstream_address;
  if (server.is_withheld()) return Error{ErrorCode::kUnavailable, server.withheld()};
  net::RedisUrl url = server.url();
  const std::shared_ptr<const copies::PolicySnapshot> policy = threads_->shared.held();
  url.user = policy->credentials.user;
  url.password = policy->credentials.password;
  return url;
}

const policy::KeyDisplay& Proxy::shown() const { return threads_->shared.shown; }

Result<std::uint64_t> Proxy::apply(const policy::ProxyOptions& options) {
  SharedState& shared = threads_->shared;
  const std::shared_ptr<const copies::PolicySnapshot> before = shared.held();
  policy::ProxyOptions wanted = options;
  wanted.workers = before->options.workers;
  const Result<net::RedisUrl> upstream = net::parse_upstream_url(wanted.upstream);
  if (!upstream.ok()) return upstream.error();
  if (const Result<detect::RuleSet> rules = policy::rule_set(wanted); !rules.ok())
    return rules.error();
  Result<policy::TlsContexts> tls = policy::load_tls(wanted, *upstream);
  if (!tls.ok()) return tls.error();

  shared.shared_limits->set_credentials(upstream->user, upstream->password);
  shared.shared_limits->set_tls(tls->upstream);
  const auto next = std::make_shared<const copies::PolicySnapshot>(
      wanted, redis::Credentials{upstream->user, upstream->password}, shared.shown, before.get(),
      shared.shared_limits.get());
  shared.set_tls(*std::move(tls));
  shared.follow(wanted);
  if (!threads_->adopt(next, kAdoptWithin))
    return Error{ErrorCode::kTimedOut,
                 "the configuration was applied, but a thread of the proxy has been busy for " +
                     format_duration(kAdoptWithin) +
                     ", and will follow later: ask GET /api/config"};
  return next->generation;
}

report::DropReport Proxy::drop_copies(report::WarmKey key, std::string who) {
  return threads_->keeper.queries().drop_copies(std::move(key), std::move(who));
}

void Proxy::add_order_event(std::string reason, report::WarmKey key) {
  threads_->keeper.add_order_event(std::move(reason), std::move(key));
}

void Proxy::add_config_event(report::Event::Config config, std::string reason) {
  threads_->keeper.add_config_event(config, std::move(reason));
}

Status Proxy::reload_tls() {
  SharedState& shared = threads_->shared;
  auto tls = policy::load_tls(shared.held()->options, shared.upstream);
  if (!tls.ok()) return tls.error();
  shared.set_tls(*std::move(tls));
  return Unit{};
}

std::uint16_t Proxy::port() const { return threads_->port; }
std::vector<report::Event> Proxy::events() const { return threads_->keeper.events(); }

report::Report Proxy::report() const {
  report::Report report = threads_->keeper.queries().report();
  for (const auto& worker : threads_->workers)
    if (report.copies)
      report.copies->refused.seldom_read += worker->counters().read(copies::Count::kSeldomRead);
  report.slots = slots_seen(threads_->shared, report);
  add_near_caches(report, threads_->workers, threads_->shared);
  return report;
}

const heat::History& Proxy::heat() const { return threads_->shared.heat; }

report::WarmReport Proxy::warm(report::WarmOrder order) {
  return threads_->keeper.queries().warm(std::move(order));
}

report::WarmReport Proxy::warmed(std::uint64_t search) const {
  return threads_->keeper.queries().warmed(search);
}

report::KeyInspection Proxy::inspect(const std::string& name, std::uint32_t db) const {
  report::KeyInspection found = threads_->keeper.queries().inspect(name, db);
  add_near_caches_of(name, found.report, threads_->workers, threads_->shared);
  return found;
}

std::vector<report::ReplicaReport> Proxy::replicas() const {
  const SharedState& shared = threads_->shared;
  return replicas_seen(shared.replicas, policy::shortest_lag(shared.held()->replica_reads),
                       shared.proof.confirmed_at(), BootClock::now());
}

std::uint64_t Proxy::contact_changes() const { return threads_->shared.contact_changes; }

Status Proxy::alive(TimePoint now) const {
  if (Status keeper = alive_thread("the keeper", threads_->keeper.sign_of_life(), now);
      !keeper.ok())
    return keeper;
  for (const auto& worker : threads_->workers) {
    const std::string name = "worker " + std::to_string(worker->index());
    if (Status alive = alive_thread(name, worker->sign_of_life(), now); !alive.ok()) return alive;
  }
  return Unit{};
}

void Proxy::begin_drain(Nanos limit) {
  DrainProgress& progress = threads_->shared.drain;
  progress.workers_to_begin = threads_->workers.size();
  progress.on = true;
  for (auto& worker : threads_->workers) worker->begin_drain(limit);
}

Proxy::Draining Proxy::draining() const {
  const DrainProgress& progress = threads_->shared.drain;
  Draining out;
  out.over = progress.workers_to_begin == 0;
  for (std::size_t i = 0; i < kStays; ++i) {
    out.left[i] = progress.clients[i];
    out.over = out.over && out.left[i] == 0;
  }
  out.closed = progress.closed;
  out.cut = progress.cut;
  return out;
}

Status Proxy::ready() const {
  if (threads_->shared.drain.on)
    return Error{ErrorCode::kUnavailable, "draining: the proxy is shutting down"};
  const report::Report report = threads_->keeper.queries().report();
  if (report.upstream_up) return Unit{};
  return Error{ErrorCode::kUnavailable,
               "upstream " + report.upstream + " is not reachable: " + report.upstream_problem};
}

MetricSamples Proxy::metrics() const {
  std::vector<const Worker*> workers;
  for (const auto& worker : threads_->workers) workers.push_back(worker.get());
  MetricSamples samples = samples_of(threads_->shared, threads_->keeper, report(), workers);
  append_replica_samples(samples, replicas());
  append_thread_samples(samples, threads_->keeper_thread, threads_->threads);
  return samples;
}

// ---- to and from another process

const std::vector<int>& Proxy::listeners() const { return threads_->listener_numbers; }
net::SocketFile& Proxy::socket_file() { return threads_->socket_file; }
std::uint64_t Proxy::next_client_id() const { return threads_->shared.next_client_id; }
void Proxy::begin_client_ids_at(std::uint64_t id) { threads_->shared.next_client_id = id; }
copies::Learned Proxy::learned() { return threads_->keeper.queries().learned(); }
void Proxy::begin_with(const copies::Learned& learned) { threads_->keeper.begin_with(learned); }

void Proxy::set_accepting(bool wanted) {
  std::vector<std::future<void>> done;
  for (auto& worker : threads_->workers) {
    auto promise = std::make_shared<std::promise<void>>();
    done.push_back(promise->get_future());
    worker->set_accepting(wanted, [promise] { promise->set_value(); });
  }
  for (std::future<void>& each : done) each.wait();
}

std::vector<copies::LastingKey> Proxy::hot_names(std::size_t count_max) {
  return threads_->keeper.queries().hot_names(count_max);
}

void Proxy::warm_all(std::vector<copies::LastingKey> keys, Nanos at_least) {
  threads_->keeper.warm_all(std::move(keys), at_least);
}

void Proxy::hand_over(const handover::Channel& to, std::uint32_t version) {
  for (auto& worker : threads_->workers) worker->hand_over(to, version);
}

void Proxy::taken(std::uint64_t token) {
  const std::size_t worker = Worker::index_in(token);
  if (worker < threads_->workers.size()) threads_->workers[worker]->taken(token);
}

void Proxy::refused(std::uint64_t token) {
  const std::size_t worker = Worker::index_in(token);
  if (worker < threads_->workers.size()) threads_->workers[worker]->refused(token);
}

void Proxy::end_hand_over(bool takes_back) {
  for (auto& worker : threads_->workers) worker->end_hand_over(takes_back);
}

std::uint64_t Proxy::to_hand_over() const {
  std::uint64_t sum = 0;
  for (const auto& worker : threads_->workers) sum += worker->to_hand_over();
  return sum;
}

Status Proxy::adopt(const handover::Client& message, std::vector<net::Fd> descriptors,
                    std::function<void(bool)> answer) {
  Result<CarriedSession> session = decode_session(message.state);
  if (!session.ok()) return session.error();
  const std::size_t own = session->private_connection ? 2 : 1;
  if (descriptors.size() != own + session->nodes)
    return Error{ErrorCode::kProtocol, "a client came without its connections"};
  CarriedClient client;
  client.session = std::move(session).value();
  client.client = net::Stream(std::move(descriptors[0]));
  if (own == 2) client.private_connection = net::Stream(std::move(descriptors[1]));
  for (std::size_t i = own; i < descriptors.size(); ++i)
    client.nodes.emplace_back(std::move(descriptors[i]));
  Worker* worker = threads_->workers.front().get();
  if (threads_->balancer) worker = static_cast<Worker*>(&threads_->balancer->home());
  worker->adopt(std::move(client), std::move(answer));
  return Unit{};
}

}  // namespace heatsink::proxy
