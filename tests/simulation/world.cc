// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/world.h"

#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "heatsink/proxy/keeper.h"
#include "heatsink/proxy/shared_state.h"
#include "heatsink/proxy/worker.h"
#include "tests/consistency/player_session.h"

namespace heatsink::simulation {
namespace {

constexpr std::uint16_t kServerPort = 6379;
constexpr std::uint16_t kOtherPort = 6378;  // of the node to which the keys move
constexpr Nanos kReadsThen = Millis(50);    // later than anything that is under way now
constexpr std::string_view kTracker = "heatsink-tracker";  // the name of its connection
constexpr Nanos kExpireCycle = Millis(100);
constexpr std::size_t kExpiredPerCycle = 20;
constexpr Nanos kLastReplies = std::chrono::seconds(15);  // more than upstream.response-timeout

net::ResolvedAddress address_of(std::uint16_t port) {
  return net::resolve({"127.0.0.1", port}).value().front();
}

std::uint16_t port_of_proxy(std::size_t number) {
  return static_cast<std::uint16_t>(kServerPort + 1 + number);
}

}  // namespace

struct World::Server {
  Server(Network& its_network, std::uint16_t its_port, ModelServer::Databases data)
      : network(its_network),
        port(its_port),
        node(network, "server " + std::to_string(port)),
        loop(node.poller()),
        model(loop, std::move(data)) {
    node.run(loop);
    network.listen(port, node, [this](net::Stream stream, const std::string&) {
      model.accept(std::move(stream));
    });
  }
  ~Server() {
    network.close_port(port);
    node.leave();
  }

  Network& network;
  const std::uint16_t port;
  Node node;
  net::EventLoop loop;
  ModelServer model;
};

struct World::ProxyProcess {
  ProxyProcess(Network& its_network, std::uint64_t its_number, std::uint16_t its_port,
               const proxy::ProxyOptions& options, const Conditions& conditions, std::uint64_t seed)
      : network(its_network),
        number(its_number),
        port(its_port),
        name("proxy " + std::to_string(its_port)),
        shared(options, net::parse_redis_url(options.upstream).value(), seed),
        keeper_node(network, name),
        keeper(shared, keeper_node.poller()) {
    shared.place.set_addresses({address_of(kServerPort)});
    keeper_node.hear_later_by(conditions.push_delay);
    if (conditions.tear > Nanos(0)) keeper_node.tear_before(kSecondOfAFill, conditions.tear);
    keeper_node.sleep_sometimes(conditions.sleeps, conditions.sleep_max);
    std::vector<proxy::KeeperListener*> served;
    for (std::int64_t i = 0; i < options.workers; ++i) {
      nodes.push_back(std::make_unique<Node>(network, name));
      nodes.back()->sleep_sometimes(conditions.sleeps, conditions.sleep_max);
      workers.push_back(std::make_unique<proxy::Worker>(shared, keeper, static_cast<std::size_t>(i),
                                                        net::Fd(), nodes.back()->poller()));
      served.push_back(workers.back().get());
    }
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
    for (const auto& worker : workers) sum += worker->counters().read(proxy::Count::kLocalHits);
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
  proxy::Keeper keeper;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<proxy::Worker>> workers;
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
  const bool moves = options_.conditions.loses_keys != ModelServer::Cluster::kNone;
  for (std::size_t i = 0; i <= options_.proxies; ++i)
    addresses_.push_back(
        address_of(i > 0 ? port_of_proxy(i - 1) : (moves ? kOtherPort : kServerPort)));
  server_ = std::make_unique<Server>(network_, kServerPort, ModelServer::Databases());
  if (moves) {
    other_ = std::make_unique<Server>(network_, kOtherPort, ModelServer::Databases());
    server_->model.set_cluster(ModelServer::Cluster::kOwner);
    scheduler_.call_after(options_.conditions.loses_keys_at, [this] {
      if (server_) server_->model.set_cluster(options_.conditions.loses_keys);
    });
  }
  proxies_.resize(options_.proxies);
  for (std::size_t i = 0; i < options_.proxies; ++i) start_proxy(i);
  libraries_ = std::make_unique<Libraries>(network_, recorder_, options_.library);
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
  if (options_.conditions.expires_actively) expire();
}

void World::start_proxy(std::size_t which) {
  proxies_[which] =
      std::make_unique<ProxyProcess>(network_, ++processes_, port_of_proxy(which), options_.proxy,
                                     options_.conditions, scheduler_.random());
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
  std::uint64_t sum = hits_of_the_dead_ + libraries_->hits();
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

Nanos World::stop_time() {
  // As many short ones as long ones.
  const double low = std::log(static_cast<double>(options_.faults.stop_min.count()));
  const double high = std::log(static_cast<double>(options_.faults.stop_max.count()));
  const double part = scheduler_.unit();
  return Nanos(std::llround(std::exp(low + (high - low) * part)));
}

World::ProxyProcess* World::any_proxy() {
  if (proxies_.empty()) return nullptr;
  return proxies_[scheduler_.below(proxies_.size())].get();
}

void World::stop_server() {
  if (server_) server_->node.stop_for(stop_time());
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

// It keeps its data, as with appendfsync always.
void World::restart_server() {
  if (!server_) return;
  auto data = std::make_shared<ModelServer::Databases>(server_->model.take_data());
  server_.reset();
  scheduler_.call_after(stop_time(), [this, data] {
    server_ = std::make_unique<Server>(network_, kServerPort, std::move(*data));
  });
}

void World::cut() {
  network_.cut([this](const Socket&) { return scheduler_.chance(0.25); });
}

void World::cut_trackers() {
  if (server_) server_->model.kill([](std::string_view name) { return name == kTracker; });
}

void World::forget() {
  if (server_) server_->model.forget_tracked(1 + scheduler_.below(4));
}

void World::flush() {
  if (server_) server_->model.flush_another_database();
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

void World::garble() {
  static constexpr std::array<std::string_view, 3> kGarbage = {"hello\r\n", "$-2\r\n",
                                                               "$999999999999\r\n"};
  const std::string_view bytes = kGarbage[scheduler_.below(kGarbage.size())];
  if (server_)
    server_->model.say(bytes, [](std::string_view name, int, bool) { return name == kTracker; });
}

// Only where the proxy can tell: it has been answered all that it has sent, and sends nothing more
// until it reads this.
void World::answer_twice() {
  if (!server_) return;
  server_->model.say("+OK\r\n", [this](std::string_view name, int fd, bool idle) {
    Node* peer = idle && name == "heatsink" ? network_.quiet_peer(fd) : nullptr;
    if (peer != nullptr) peer->stop_for(kReadsThen);
    return peer != nullptr;
  });
}

void World::expire() {
  scheduler_.call_after(kExpireCycle, [this] {
    if (server_ && !server_->node.is_stopped())
      server_->loop.post([this] { server_->model.expire_some(kExpiredPerCycle); });
    expire();
  });
}

}  // namespace heatsink::simulation
