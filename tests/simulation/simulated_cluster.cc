// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace heatsink::simulation {
namespace {

using Separation = SimulatedClusterOptions::Separation;

constexpr std::string_view kClusterTracker = "heatsink-tracker";  // the name of its connections
constexpr Nanos kLook = Millis(20);                               // whether something has come true
constexpr Nanos kExpireEvery = Millis(100);
constexpr std::size_t kExpiredAtOnce = 20;

// What SETSLOT NODE tells the others, and how late the owner hears of a theft (17 to 447 ms were
// measured).
constexpr Nanos kTheftHeardMax = Millis(450);

}  // namespace

struct SimulatedCluster::Member {
  Member(SimulatedCluster& cluster, ModelPort its_port, ModelServer::Databases data, ModelView view,
         bool is_restart)
      : network(cluster.network_),
        port(its_port),
        process(network, ModelBus::node_name(port)),
        loop(process.poller()),
        server(loop, std::move(data)) {
    server.use_wall_clock(cluster.clock_);
    node = &server.join(cluster.bus_, process, port, cluster.options_.nodes, std::move(view),
                        is_restart);
    process.run(loop);
    network.listen(port, process, [this](net::Stream stream, const std::string&) {
      server.accept(std::move(stream));
    });
    if (!node->is_master()) {
      const ModelPort master = node->view().members.at(port).master;
      loop.post([this, master] { server.replicate_from(address_of(master)); });
    }
  }
  ~Member() {
    network.close_port(port);
    process.leave();
  }

  Network& network;
  const ModelPort port;
  Node process;
  net::EventLoop loop;
  ModelServer server;
  ModelNode* node = nullptr;
};

SimulatedCluster::SimulatedCluster(Network& network, consistency::Recorder& recorder,
                                   const WallClock& clock, const SimulatedClusterOptions& options)
    : network_(network),
      recorder_(recorder),
      clock_(clock),
      options_(options),
      bus_(network, options.bus_delay_max) {
  const std::size_t masters = options.masters;
  const std::size_t all = masters * (1 + options.replicas);
  ModelView view;
  for (std::size_t i = 0; i < all; ++i) {
    const auto port = static_cast<ModelPort>(kFirstPort + i);
    ModelView::Member& member = view.members[port];
    member.is_master = i < masters;
    if (!member.is_master) member.master = static_cast<ModelPort>(kFirstPort + i % masters);
    member.epoch = member.is_master ? i + 1 : 0;
    if (!member.is_master) bus_.set_behind(port, true);
  }
  view.current_epoch = masters;
  for (std::size_t i = 0; i < masters; ++i) {
    const auto owner = static_cast<ModelPort>(kFirstPort + i);
    const std::size_t end = (i + 1) * resp::kSlots / masters;
    for (std::size_t slot = i * resp::kSlots / masters; slot < end; ++slot) {
      view.owners[slot] = owner;
      bus_.claim(static_cast<std::uint16_t>(slot), owner, view.members.at(owner).epoch,
                 ModelBus::Claim::kTold);
    }
  }
  members_.resize(all);
  for (std::size_t i = 0; i < all; ++i) start(i, {}, view, false);
  expire_some();
}

SimulatedCluster::~SimulatedCluster() = default;

void SimulatedCluster::start(std::size_t index, ModelServer::Databases data, ModelView view,
                             bool is_restart) {
  members_[index] = std::make_unique<Member>(*this, static_cast<ModelPort>(kFirstPort + index),
                                             std::move(data), std::move(view), is_restart);
}

ModelNode& SimulatedCluster::node(ModelPort port) { return *members_[port - kFirstPort]->node; }

std::string SimulatedCluster::url() const {
  std::string out = "redis+cluster://";
  for (std::size_t i = 0; i < options_.masters; ++i)
    out += (i > 0 ? ",127.0.0.1:" : "127.0.0.1:") + std::to_string(kFirstPort + i);
  return out;
}

// All nodes know the same owners, have their roles, and have what their masters have.
bool SimulatedCluster::is_settled() const {
  if (is_apart_) return false;
  for (const auto& member : members_) {
    if (member == nullptr || member->process.is_stopped()) return false;
    const ModelNode& node = *member->node;
    if (node.is_down() || node.pauses_writes()) return false;
    if (!node.is_master() && (!member->server.is_synced() || bus_.is_behind(node.port())))
      return false;
    for (const auto& [port, seen] : node.view().members) {
      const auto& other = members_[port - kFirstPort];
      if (other == nullptr || seen.has_failed || seen.is_suspect) return false;
      if (seen.is_master != other->node->is_master()) return false;
    }
    for (std::uint16_t slot = 0; slot < resp::kSlots; ++slot)
      if (node.view().owners[slot] != bus_.owner(slot)) return false;
  }
  return true;
}

ModelPort SimulatedCluster::replica_of(ModelPort master) const {
  for (const auto& member : members_) {
    if (member == nullptr || member->node->is_master()) continue;
    if (member->node->view().members.at(member->port).master == master) return member->port;
  }
  return 0;
}

// ---- acts

bool SimulatedCluster::begin() {
  if (is_acting_ || !is_settled()) return false;
  is_acting_ = true;
  return true;
}

void SimulatedCluster::finish() {
  if (!is_settled()) return after(kLook, [this] { finish(); });
  is_acting_ = false;
  ++acts_;
}

// As many short ones as long ones.
Nanos SimulatedCluster::some_time(Nanos least, Nanos most) {
  const double low = std::log(static_cast<double>(least.count()));
  const double high = std::log(static_cast<double>(most.count()));
  return Nanos(std::llround(std::exp(low + (high - low) * scheduler().unit())));
}

// In the order of the names: that of a hash table is not the same everywhere.
std::vector<std::string> SimulatedCluster::stored_names() const {
  std::vector<std::string> names;
  for (const auto& member : members_) {
    if (member == nullptr || !member->node->is_master()) continue;
    for (const auto& [db, keys] : member->server.data())
      for (const auto& [name, entry] : keys) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::uint16_t SimulatedCluster::random_slot() {
  if (options_.acts_on_all_keys) {
    const std::vector<std::string> names = stored_names();
    if (!names.empty()) return resp::key_slot(names[scheduler().below(names.size())]);
  }
  const auto& keys = recorder_.keys;
  return resp::key_slot(recorder_.name(keys[scheduler().below(keys.size())]));
}

ModelPort SimulatedCluster::random_master() { return bus_.owner(random_slot()); }

ModelPort SimulatedCluster::other_master(ModelPort than) {
  std::vector<ModelPort> masters;
  for (const auto& member : members_)
    if (member->node->is_master() && member->port != than) masters.push_back(member->port);
  return masters[scheduler().below(masters.size())];
}

void SimulatedCluster::ask(ModelPort port, std::vector<std::string> request,
                           std::function<void(std::string)> then) {
  Member& member = *members_[port - kFirstPort];
  if (member.process.is_stopped()) {
    return after(kLook, [this, port, request = std::move(request), then = std::move(then)] {
      ask(port, request, then);
    });
  }
  then(member.server.ask({request.begin(), request.end()}));
}

void SimulatedCluster::move_slot() {
  if (!begin()) return;
  const std::uint16_t slot = random_slot();
  const ModelPort source = bus_.owner(slot), target = other_master(source);
  const std::string number = std::to_string(slot);
  ask(target, {"CLUSTER", "SETSLOT", number, "IMPORTING", ModelNode::id(source)},
      [this, slot, number, source, target](const std::string&) {
        ask(source, {"CLUSTER", "SETSLOT", number, "MIGRATING", ModelNode::id(target)},
            [this, slot, source, target](const std::string&) {
              after(some_time(options_.migrating_min, options_.migrating_max),
                    [this, slot, source, target] { move_keys(slot, source, target); });
            });
      });
}

void SimulatedCluster::move_keys(std::uint16_t slot, ModelPort source, ModelPort target) {
  const auto again = [this, slot, source, target] { move_keys(slot, source, target); };
  if (members_[target - kFirstPort]->process.is_stopped()) return after(kLook, again);
  const std::vector<std::string> keys = node(source).keys_of(slot);
  if (keys.empty()) {
    return after(some_time(Millis(1), Millis(500)),
                 [this, slot, source, target] { end_move(slot, source, target); });
  }
  ask(source,
      {"MIGRATE", "127.0.0.1", std::to_string(target), keys[scheduler().below(keys.size())], "0",
       "1000"},
      [this, again](const std::string&) { after(some_time(Millis(1), Millis(100)), again); });
}

// Half of the administrators tell the source, too.
void SimulatedCluster::end_move(std::uint16_t slot, ModelPort source, ModelPort target) {
  const std::vector<std::string> request = {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE",
                                            ModelNode::id(target)};
  ask(target, request, [this, source, request](const std::string&) {
    if (scheduler().chance(0.5))
      after(some_time(Millis(1), Millis(10)),
            [this, source, request] { ask(source, request, [](const std::string&) {}); });
    after(Millis(20), [this] { finish(); });
  });
}

void SimulatedCluster::when_known(ModelPort port, std::uint16_t slot, Step then) {
  if (node(port).view().owners[slot] != port) return then();
  after(Millis(1), [this, port, slot, then = std::move(then)] { when_known(port, slot, then); });
}

void SimulatedCluster::steal_slot() {
  if (!begin()) return;
  const std::uint16_t slot = random_slot();
  const ModelPort owner = bus_.owner(slot), thief = other_master(owner);
  node(owner).pause_writes(std::chrono::seconds(10));
  bus_.hold_back(owner, scheduler().now() + scheduler().between(Nanos(0), kTheftHeardMax));
  node(thief).take_slot(slot, false);
  when_known(owner, slot, [this, owner] {
    node(owner).resume_writes();
    finish();
  });
}

void SimulatedCluster::move_atomically() {
  if (!begin()) return;
  const std::uint16_t slot = random_slot();
  const ModelPort source = bus_.owner(slot), target = other_master(source);
  node(source).pause_writes(std::chrono::seconds(10));
  node(source).delete_later(slot);
  node(target).take_slot(slot, true);
  const bool is_mute = scheduler().chance(0.5);
  if (is_mute) {
    after(some_time(Millis(1), Millis(18)), [this, source] {
      members_[source - kFirstPort]->process.stop_for(
          scheduler().between(Millis(600), Millis(900)));
    });
  }
  when_known(source, slot, [this, source, slot, is_mute] {
    node(source).resume_writes();
    after(is_mute ? Millis(1) : some_time(Millis(80), std::chrono::seconds(6)),
          [this, source, slot] {
            node(source).delete_keys_of(slot, false);
            finish();
          });
  });
}

void SimulatedCluster::fail_over() {
  if (!begin()) return;
  const ModelPort replica = replica_of(random_master());
  const std::uint64_t how = scheduler().below(3);
  std::vector<std::string> request = {"CLUSTER", "FAILOVER"};
  if (how > 0) request.emplace_back(how == 1 ? "FORCE" : "TAKEOVER");
  ask(replica, request, [this](const std::string&) { after(Millis(50), [this] { finish(); }); });
}

void SimulatedCluster::kill(Nanos time) {
  if (!begin()) return;
  const std::size_t index = scheduler().below(members_.size());
  ModelView view = members_[index]->node->view();
  auto data = std::make_shared<ModelServer::Databases>(members_[index]->server.take_data());
  members_[index].reset();
  after(time, [this, index, data, view = std::move(view)] {
    start(index, std::move(*data), view, true);
    finish();
  });
}

void SimulatedCluster::stop(Nanos time) {
  if (!begin()) return;
  members_[random_master() - kFirstPort]->process.stop_for(time);
  after(time, [this] { finish(); });
}

void SimulatedCluster::stop_until_replaced() {
  if (!begin()) return;
  const std::uint16_t slot = random_slot();
  keep_stopped(bus_.owner(slot), slot);
}

void SimulatedCluster::keep_stopped(ModelPort master, std::uint16_t slot) {
  Node& process = members_[master - kFirstPort]->process;
  if (bus_.owner(slot) != master) {
    process.stop_for(some_time(Millis(1), kJustAfter));
    return after(kJustAfter, [this] { finish(); });
  }
  process.stop_for(Millis(5));
  after(Millis(4), [this, master, slot] { keep_stopped(master, slot); });
}

void SimulatedCluster::separate(Nanos time, const std::vector<std::string>& copiers) {
  if (!begin()) return;
  const std::string master = ModelBus::node_name(random_master());
  const auto kind = options_.separation.value_or(static_cast<Separation>(scheduler().below(4)));
  const auto is_copier = [copiers](const std::string& name) {
    return std::find(copiers.begin(), copiers.end(), name) != copiers.end();
  };
  const auto is_cut_off = [=](const std::string& inside, const std::string& outside) {
    const bool is_server = ModelBus::is_node_name(outside) && outside != master;
    switch (kind) {
      case Separation::kMasterFromAll:
        return inside == master && (is_server || is_copier(outside));
      case Separation::kMasterWithProxies:
        return (inside == master || is_copier(inside)) && is_server;
      case Separation::kMasterFromProxies:
        return inside == master && is_copier(outside);
      case Separation::kMasterFromNodes:
        return inside == master && is_server;
    }
    return false;
  };
  is_apart_ = true;
  network_.separate([is_cut_off](const std::string& one, const std::string& other) {
    return is_cut_off(one, other) || is_cut_off(other, one);
  });
  after(time, [this] {
    is_apart_ = false;
    network_.separate(nullptr);
    finish();
  });
}

// ---- others

void SimulatedCluster::stop_node(ModelPort port, Nanos time) {
  members_[port - kFirstPort]->process.stop_for(time);
}

void SimulatedCluster::stop_shortly() {
  const auto& member = members_[scheduler().below(members_.size())];
  if (member != nullptr)
    member->process.stop_for(some_time(Millis(1), options_.nodes.node_timeout / 4));
}

void SimulatedCluster::cut_trackers() {
  const auto& member = members_[scheduler().below(members_.size())];
  if (member != nullptr)
    member->server.kill([](std::string_view name) { return name == kClusterTracker; });
}

void SimulatedCluster::forget() {
  const auto& member = members_[scheduler().below(members_.size())];
  if (member != nullptr) member->server.forget_tracked(1 + scheduler().below(4));
}

void SimulatedCluster::expire_some() {
  after(kExpireEvery, [this] {
    for (const auto& member : members_) {
      if (member == nullptr || member->process.is_stopped()) continue;
      member->loop.post([server = &member->server] { server->expire_some(kExpiredAtOnce); });
    }
    expire_some();
  });
}

consistency::History SimulatedCluster::told_apart() const {
  consistency::History out;
  out.reserve(recorder_.history.size());
  for (const consistency::Op& op : recorder_.history) {
    const bool is_read = op.kind == consistency::Kind::kRead;
    const std::string value = op.value == consistency::kNil ? "" : std::to_string(op.value);
    // A read may join a fill whose answer is already under way.
    const TimePoint from = op.invoked - network_.options().latency_max;
    if (is_read && bus_.was_stale(recorder_.name(op.key), value, from, op.responded)) continue;
    out.push_back(op);
    if (is_read && op.known())
      out.back().shown_until = bus_.last_stale(recorder_.name(op.key), value, op.responded);
  }
  if (options_.outlives_max > Nanos(0)) note_lives(out);
  return out;
}

// The library asks the node that it tracks for the TTL, and the loader asks the node that owns the
// slot for the value. An owner before, which does not know yet that it has lost the slot, tells the
// TTL of another value. The server's own part of the life stays as it would be without a word.
void SimulatedCluster::note_lives(consistency::History& history) const {
  std::map<std::uint64_t, TimePoint> seen;  // by value
  for (const consistency::Op& op : history) {
    const auto [at, is_new] = seen.try_emplace(op.value, op.responded);
    if (!is_new) at->second = std::min(at->second, op.responded);
  }
  for (consistency::Op& op : history) {
    if (op.kind != consistency::Kind::kWrite || op.ttl == Millis(0)) continue;
    if (seen.at(op.value) == consistency::kNever) continue;
    const TimePoint gone_by = seen.at(op.value) + op.ttl;
    const TimePoint from = op.invoked - network_.options().latency_max;
    if (bus_.showed_another(recorder_.name(op.key), std::to_string(op.value), from, gone_by))
      op.life = {op.invoked + op.ttl, gone_by, gone_by + options_.outlives_max};
  }
}

}  // namespace heatsink::simulation
