// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/world.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/reconfiguration.h"
#include "heatsink/proxy/worker.h"
#include "heatsink/relief/shared_state.h"
#include "tests/consistency/player_session.h"
#include "tests/simulation/other_configuration.h"

namespace heatsink::simulation {
namespace {

constexpr Nanos kLastReplies = std::chrono::seconds(15);  // more than upstream.response-timeout

std::uint16_t port_of_proxy(std::size_t number) {
  return static_cast<std::uint16_t>(Servers::kPort + 1 + number);
}

std::string proxy_name(std::uint16_t port) { return "proxy " + std::to_string(port); }

}  // namespace

struct World::ProxyProcess {
  ProxyProcess(Network& its_network, std::uint64_t its_number, std::uint16_t its_port,
               const policy::ProxyOptions& options, const Conditions& conditions,
               std::uint64_t seed)
      : network(its_network),
        number(its_number),
        port(its_port),
        name(proxy_name(its_port)),
        shared(options, net::parse_upstream_url(options.upstream).value(), seed),
        keeper_node(network, name),
        keeper(shared, keeper_node.poller()) {
    if (seed % 2 == 0) shared.clients_told_at_once = 1;
    shared.upstream_address.set_addresses({address_of(shared.upstream.address.port)});
    keeper_node.hear_later_by(conditions.push_delay);
    if (conditions.tear > Nanos(0)) keeper_node.tear_before(kSecondOfAFill, conditions.tear);
    keeper_node.sleep_sometimes(conditions.sleeps, conditions.sleep_max);
    std::vector<copies::KeeperListener*> served;
    for (std::int64_t i = 0; i < options.workers; ++i) {
      nodes.push_back(std::make_unique<Node>(network, name));
      nodes.back()->sleep_sometimes(conditions.sleeps, conditions.sleep_max);
      workers.push_back(std::make_unique<proxy::Worker>(shared, keeper, static_cast<std::size_t>(i),
                                                        net::Fd(), nodes.back()->poller()));
      served.push_back(workers.back().get());
    }
    if (shared.admission && conditions.reads_of_a_copy > 0)
      shared.admission->publish(conditions.reads_of_a_copy, 1024, 0);
    keeper.serve(std::move(served));
    keeper.begin();
    keeper_node.run(keeper.loop());
    for (std::size_t i = 0; i < workers.size(); ++i) {
      workers[i]->begin();
      nodes[i]->run(workers[i]->loop());
    }
    for (std::size_t i = 0; i < workers.size(); ++i) {
      network.listen(port, *nodes[i], [this, i](net::Stream stream, const std::string& peer) {
        workers[i]->serve(std::move(stream), peer);
      });
    }
  }
  ~ProxyProcess() {
    network.close_port(port);
    keeper_node.leave();
    for (auto& node : nodes) node->leave();
    workers.clear();
  }

  std::uint64_t hits() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers)
      sum += worker->counters().read(copies::Count::kLocalHits) +
             worker->counters().read(copies::Count::kSpreadHits);
    return sum;
  }

  // Of what GET asks for.
  static constexpr const char* kSecondOfAFill = "*2\r\n$4\r\nPTTL\r\n";

  Network& network;
  const std::uint64_t number;  // no other process has it
  const std::uint16_t port;
  const std::string name;
  proxy::SharedState shared;
  Node keeper_node;
  copies::CopyKeeper keeper;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<proxy::Worker>> workers;
  bool is_changing = false;  // a change of its configuration is under way
};

struct World::Clients {
  explicit Clients(Network& network) : node(network, "clients"), loop(node.poller()) {
    node.run(loop);
  }
  ~Clients() { node.leave(); }

  Node node;
  net::EventLoop loop;
  std::vector<std::unique_ptr<consistency::PlayerSession>> sessions;
};

World::World(WorldOptions options)
    : options_(std::move(options)),
      scheduler_(options_.seed),
      network_(scheduler_, options_.network) {
  recorder_.prefix = options_.key_prefix;
  network_.options().window_bytes = options_.conditions.window_bytes;
  if (options_.cluster.masters > 0) {
    cluster_ =
        std::make_unique<SimulatedCluster>(network_, recorder_, server_clock_, options_.cluster);
  } else {
    servers_ = std::make_unique<Servers>(network_, recorder_, options_.servers);
  }
  addresses_.push_back(
      address_of(servers_ ? servers_->port_past_proxies() : SimulatedCluster::kFirstPort));
  for (std::size_t i = 0; i < options_.proxies; ++i)
    addresses_.push_back(address_of(port_of_proxy(i)));
  proxies_.resize(options_.proxies);
  for (std::size_t i = 0; i < options_.proxies; ++i) start_proxy(i);
  if (cluster_) cluster_->bus().on_claim([this](ModelPort owner) { tell_plain_proxies(owner); });
  libraries_ = std::make_unique<Libraries>(network_, recorder_, library_options());
  clients_ = std::make_unique<Clients>(network_);
  for (const consistency::LoadSpec& spec : options_.sessions) {
    for (std::uint32_t i = 0; i < spec.keys; ++i)
      recorder_.know(consistency::Recorder::key(spec.db, spec.first + i));
    if (spec.via > options_.proxies) {
      libraries_->add(spec.via - options_.proxies - 1, spec);
      continue;
    }
    for (std::uint32_t i = 0; i < spec.count; ++i) {
      clients_->sessions.push_back(std::make_unique<consistency::PlayerSession>(
          clients_->loop, addresses_[spec.via], spec, recorder_, scheduler_.random()));
    }
  }
  schedule_faults();
}

void World::schedule_faults() {
  const Faults& faults = options_.faults;
  schedule_fault(faults.stop_server, &World::stop_server);
  schedule_fault(faults.stop_loop, &World::stop_loop);
  schedule_fault(faults.stop_keeper, &World::stop_keeper);
  schedule_fault(faults.stop_proxy, &World::stop_proxy);
  schedule_fault(faults.restart_proxy, &World::restart_proxy);
  schedule_fault(faults.restart_server, &World::restart_server);
  schedule_fault(faults.cut, &World::cut);
  schedule_fault(faults.cut_trackers, &World::cut_trackers);
  schedule_fault(faults.forget, &World::forget);
  schedule_fault(faults.stop_thread, &World::stop_thread);
  schedule_fault(faults.stop_link, &World::stop_link);
  schedule_fault(faults.stop_library, &World::stop_library);
  schedule_fault(faults.restart_library, &World::restart_library);
  schedule_fault(faults.flush, &World::flush);
  schedule_fault(faults.hold, &World::hold);
  schedule_fault(faults.lose, &World::lose);
  schedule_fault(faults.garble, &World::garble);
  schedule_fault(faults.answer_twice, &World::answer_twice);
  schedule_fault(faults.move_clients, &World::move_clients);
  schedule_fault(faults.reconfigure, &World::reconfigure);
  schedule_fault(faults.restart_empty, &World::restart_empty);
  schedule_fault(faults.restart_older, &World::restart_older);
  schedule_fault(faults.fail_over, &World::fail_over);
  schedule_fault(faults.fail_over_hanging, &World::fail_over_hanging);
  schedule_fault(faults.fail_over_split, &World::fail_over_split);
  schedule_fault(faults.suspend_server, &World::suspend_server);
  schedule_fault(faults.jump_clock, &World::jump_clock);
  schedule_fault(faults.jump_client_clock, &World::jump_client_clock);
  schedule_fault(faults.move_slot, &World::move_slot);
  schedule_fault(faults.steal_slot, &World::steal_slot);
  schedule_fault(faults.move_atomically, &World::move_atomically);
  schedule_fault(faults.fail_over_by_hand, &World::fail_over_by_hand);
  schedule_fault(faults.kill_node, &World::kill_node);
  schedule_fault(faults.stop_master, &World::stop_master);
  schedule_fault(faults.stop_until_replaced, &World::stop_until_replaced);
  schedule_fault(faults.separate, &World::separate);
  schedule_fault(faults.stop_node_shortly, &World::stop_node_shortly);
}

void World::start_proxy(std::size_t which) {
  proxies_[which] = std::make_unique<ProxyProcess>(network_, ++processes_, port_of_proxy(which),
                                                   options_of_proxy(which), options_.conditions,
                                                   scheduler_.random());
}

// They are to the others as clients that hear of a new owner at once: what they write there is
// there before the other proxies know.
void World::tell_plain_proxies(ModelPort owner) {
  const net::HostPort address{"127.0.0.1", owner};
  const bool skips_first = options_.library.is_loader_late;
  for (std::size_t i = first_plain() + (skips_first ? 1 : 0); i < options_.proxies; ++i) {
    if (!proxies_[i]) continue;
    topology::ClusterDirectory& directory = proxies_[i]->shared.cluster;
    directory.is_stale(directory.node_at(address, address));
  }
}

policy::ProxyOptions World::options_of_proxy(std::size_t which) const {
  policy::ProxyOptions options = options_.proxy;
  if (cluster_) options.upstream = cluster_->url();
  if (which >= first_plain()) options.cache_enabled = false;
  return options;
}

LibraryOptions World::library_options() const {
  LibraryOptions library = options_.library;
  library.loader_address = address_of(cluster_ ? port_of_proxy(first_plain()) : Servers::kPort);
  if (cluster_) library.server_url = cluster_->url();
  return library;
}

World::~World() {
  clients_.reset();
  proxies_.clear();
}

void World::play(Nanos time) {
  for (auto& session : clients_->sessions) session->start();
  libraries_->start();
  scheduler_.run_until(scheduler_.now() + time);
  faulty_ = false;
  for (auto& session : clients_->sessions) session->finish();
  libraries_->finish();
  scheduler_.run_until(scheduler_.now() + kLastReplies);
  for (auto& session : clients_->sessions) session->stop();
  libraries_->stop();
}

std::uint64_t World::hits() const {
  std::uint64_t sum = hits_of_the_dead_ + libraries_->hits() + recorder_.near_reads;
  for (const auto& proxy : proxies_) sum += proxy ? proxy->hits() : 0;
  return sum;
}

// ---- faults, by a Poisson process

void World::schedule_fault(double per_second, void (World::*fault)()) {
  if (per_second <= 0) return;
  const double uniform = scheduler_.unit() + 0x1.0p-53;  // never 0
  const auto pause =
      std::chrono::round<Nanos>(std::chrono::duration<double>(-std::log(uniform) / per_second));
  scheduler_.call_after(pause, [this, per_second, fault] {
    if (!faulty_) return;
    (this->*fault)();
    schedule_fault(per_second, fault);
  });
}

Nanos World::stop_time() { return random_time(options_.faults.stop_min, options_.faults.stop_max); }

// As many short ones as long ones.
Nanos World::random_time(Nanos least, Nanos most) {
  const double low = std::log(static_cast<double>(least.count()));
  const double high = std::log(static_cast<double>(most.count()));
  const double part = scheduler_.unit();
  return Nanos(std::llround(std::exp(low + (high - low) * part)));
}

World::ProxyProcess* World::any_proxy() {
  if (proxies_.empty()) return nullptr;
  return proxies_[scheduler_.below(proxies_.size())].get();
}

void World::stop_loop() {
  ProxyProcess* proxy = any_proxy();
  if (proxy == nullptr) return;
  const std::uint64_t which = scheduler_.below(proxy->nodes.size() + 1);
  (which == proxy->nodes.size() ? proxy->keeper_node : *proxy->nodes[which]).stop_for(stop_time());
}

void World::stop_keeper() {
  if (ProxyProcess* proxy = any_proxy()) proxy->keeper_node.stop_for(stop_time());
}

void World::stop_proxy() {
  ProxyProcess* proxy = any_proxy();
  if (proxy == nullptr) return;
  const Nanos time = stop_time();
  proxy->keeper_node.stop_for(time);
  for (auto& node : proxy->nodes) node->stop_for(time);
}

void World::restart_proxy() {
  const std::uint64_t which = scheduler_.below(proxies_.size());
  if (proxies_.empty() || !proxies_[which]) return;
  hits_of_the_dead_ += proxies_[which]->hits();
  proxies_[which].reset();
  scheduler_.call_after(stop_time(), [this, which] { start_proxy(which); });
}

void World::cut() {
  network_.cut([this](const Socket&) { return scheduler_.chance(0.25); });
}

void World::hold() { hold_for_a_while(false); }

// What was written last is never told: its connections are cut instead.
void World::lose() { hold_for_a_while(true); }

void World::hold_for_a_while(bool loses) {
  const std::uint64_t which = scheduler_.below(proxies_.size());
  if (!proxies_[which]) return;
  proxies_[which]->keeper_node.hear_nothing();
  const Nanos time = scheduler_.between(options_.faults.hold_min, options_.faults.hold_max);
  scheduler_.call_after(time, [this, which, loses, number = proxies_[which]->number] {
    if (!proxies_[which] || proxies_[which]->number != number) return;
    Node& node = proxies_[which]->keeper_node;
    if (loses) network_.cut([&node](const Socket& socket) { return socket.node == &node; });
    node.hear_again();
  });
}

// ---- clocks

// As many short ones as long ones, forward and back.
Nanos World::jump_time() {
  const Nanos time = random_time(options_.faults.jump_min, options_.faults.jump_max);
  return scheduler_.chance(0.5) ? time : -time;
}

void World::jump_client_clock() {
  const TimePoint now = scheduler_.now();
  client_clock_.jump(now, jump_time());
  recorder_.wall_ahead = client_clock_.at(now) - now;
}

void World::move_clients() {
  ProxyProcess* proxy = any_proxy();
  if (proxy == nullptr || proxy->workers.size() < 2) return;
  const std::uint64_t from = scheduler_.below(proxy->workers.size());
  const std::uint64_t to =
      (from + 1 + scheduler_.below(proxy->workers.size() - 1)) % proxy->workers.size();
  const std::size_t count =
      scheduler_.chance(0.3) ? proxy::Worker::kAllClients : 1 + scheduler_.below(4);
  proxy->workers[from]->give_clients(count, *proxy->workers[to]);
}

// As Proxy::apply() does it.
void World::reconfigure() {
  ProxyProcess* const proxy = any_proxy();
  if (proxy == nullptr || std::exchange(proxy->is_changing, true)) return;
  const auto before = proxy->shared.held();
  const policy::ProxyOptions options = other_configuration(options_.proxy, scheduler_);
  const auto next = std::make_shared<const copies::PolicySnapshot>(
      options, before->credentials, proxy->shared.shown, before.get());
  proxy->shared.follow(options);
  std::vector<proxy::Worker*> workers;
  for (const auto& worker : proxy->workers) workers.push_back(worker.get());
  proxy::reconfigure(proxy->keeper, workers, next, [proxy] { proxy->is_changing = false; });
}

void World::separate() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < first_plain(); ++i) names.push_back(proxy_name(port_of_proxy(i)));
  for (std::size_t i = 0; i < options_.library.count; ++i) names.push_back(Libraries::name_of(i));
  cluster_->separate(stop_time(), names);
}

consistency::History World::history() const {
  if (cluster_) return cluster_->told_apart();
  consistency::History told = servers_->told_apart();
  if (!servers_->clock().has_always_told_time() || !client_clock_.has_always_told_time())
    note_lives(told, servers_->clock(), client_clock_, options_.proxy.expire_after_write);
  return told;
}

}  // namespace heatsink::simulation
