// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/servers.h"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace heatsink::simulation {
namespace {

constexpr Nanos kReadsThen = Millis(50);  // later than anything that is under way now
constexpr std::string_view kTracker = "heatsink-tracker";  // the name of its connection
constexpr Nanos kExpireCycle = Millis(100);
constexpr std::size_t kExpiredPerCycle = 20;
constexpr Nanos kClockSetMax = std::chrono::seconds(1);  // how long after a suspension
constexpr Nanos kForEver = std::chrono::hours(1);
constexpr std::uint16_t kNobody = 6300;  // nothing listens there

}  // namespace

struct Servers::Process {
  Process(Network& its_network, std::uint16_t its_port, ModelServer::Databases data,
          const WallClock& clock, const ModelFlavor& flavor)
      : network(its_network),
        node(network, "server " + std::to_string(its_port)),
        loop(node.poller()),
        model(loop, std::move(data), flavor) {
    model.use_wall_clock(clock);
    node.run(loop);
    listen(its_port);
  }
  ~Process() {
    hide();
    node.leave();
  }

  void listen(std::uint16_t at) {
    port = at;
    network.listen(port, node, [this](net::Stream stream, const std::string&) {
      model.accept(std::move(stream));
    });
  }
  void hide() {
    if (port != 0) network.close_port(std::exchange(port, std::uint16_t{0}));
  }

  Network& network;
  std::uint16_t port = 0;  // where it is reached; 0: nowhere
  Node node;
  net::EventLoop loop;
  ModelServer model;
};

Servers::Servers(Network& network, consistency::Recorder& recorder, const ServerOptions& options)
    : network_(network), options_(options), clock_(options.drift), restorations_(recorder) {
  server_ =
      std::make_unique<Process>(network_, kPort, ModelServer::Databases(), clock_, options_.flavor);
  if (options_.loses_keys != ModelServer::Cluster::kNone) {
    other_ = std::make_unique<Process>(network_, kOtherPort, ModelServer::Databases(), clock_,
                                       options_.flavor);
    server_->model.set_cluster(ModelServer::Cluster::kOwner, kPort);
    if (options_.loses_keys == ModelServer::Cluster::kMoved)
      other_->model.set_cluster(ModelServer::Cluster::kOwner, kOtherPort);
    network_.scheduler().call_after(options_.loses_keys_at, [this] {
      if (server_) server_->model.set_cluster(options_.loses_keys);
    });
  }
  if (options_.has_replica) begin_replica();
  if (options_.dump_interval > Nanos(0)) begin_dumping();
  if (options_.expires_actively) begin_expiring();
}

Servers::~Servers() = default;

void Servers::begin_expiring() {
  network_.scheduler().call_after(kExpireCycle, [this] {
    if (server_ && !server_->node.is_stopped())
      server_->loop.post([server = server_.get()] { server->model.expire_some(kExpiredPerCycle); });
    begin_expiring();
  });
}

void Servers::begin_dumping() {
  network_.scheduler().call_after(options_.dump_interval, [this] {
    if (server_ && !server_->node.is_stopped()) dump_ = server_->model.data();
    begin_dumping();
  });
}

void Servers::begin_replica() {
  replica_ = std::make_unique<Process>(network_, kReplicaPort, ModelServer::Databases(), clock_,
                                       options_.flavor);
  replica_->node.hear_later_by(options_.replica_lag);
  replica_->loop.post(
      [replica = replica_.get()] { replica->model.replicate_from(address_of(kPort)); });
}

// ---- faults

void Servers::stop(Nanos time) {
  if (server_) server_->node.stop_for(time);
}

void Servers::restart(Nanos pause) {
  if (server_) restart_with(pause, server_->model.take_data(), false);
}

void Servers::restart_empty(Nanos pause) { restart_with(pause, {}, true); }
void Servers::restart_older(Nanos pause) { restart_with(pause, dump_, true); }

void Servers::restart_with(Nanos pause, ModelServer::Databases data, bool is_a_loss) {
  if (!server_) return;
  const TimePoint ended_at = network_.scheduler().now();
  auto before = std::make_shared<ModelServer::Databases>();
  if (is_a_loss) *before = server_->model.take_data();
  auto after = std::make_shared<ModelServer::Databases>(std::move(data));
  server_.reset();
  network_.scheduler().call_after(pause, [this, is_a_loss, ended_at, before, after] {
    if (is_a_loss) {
      restorations_.note(*before, *after, clock_, ended_at, network_.scheduler().now());
      dump_ = *after;
    }
    server_ =
        std::make_unique<Process>(network_, kPort, std::move(*after), clock_, options_.flavor);
  });
}

// Only to a replica that has had all data once: another one would not be chosen.
void Servers::fail_over(Nanos pause, Old old) {
  if (!server_ || !replica_ || old_ || !replica_->model.is_synced()) return;
  const TimePoint now = network_.scheduler().now();
  restorations_.note(server_->model.data(), replica_->model.data(), clock_, now, now);
  server_->hide();
  if (old == Old::kHangs) server_->node.stop_for(kForEver);
  if (old == Old::kKeepsTrackers)
    server_->model.kill([](std::string_view name) { return name != kTracker; });
  if (old != Old::kIsGone) old_ = std::move(server_);
  replica_->model.promote();
  replica_->node.hear_later_by(Nanos(0));
  replica_->hide();
  replica_->listen(kPort);
  server_ = std::move(replica_);
  dump_ = server_->model.data();
  network_.scheduler().call_after(pause, [this] {
    old_.reset();
    begin_replica();
  });
}

void Servers::demote() {
  if (server_) server_->model.replicate_from(address_of(kNobody));
}

void Servers::promote() {
  if (server_) server_->model.promote();
}

std::size_t Servers::clients_of_old() const { return old_ ? old_->model.clients() : 0; }

void Servers::suspend(Nanos time) {
  if (!server_ || server_->node.is_stopped()) return;
  Scheduler& scheduler = network_.scheduler();
  server_->node.stop_for(time);
  scheduler.call_after(time - Nanos(1), [this, time] { jump_clock(-time); });  // before its turn
  scheduler.call_after(time + scheduler.between(Nanos(0), kClockSetMax),
                       [this, time] { jump_clock(time); });
}

void Servers::cut_trackers() {
  if (server_) server_->model.kill([](std::string_view name) { return name == kTracker; });
}

void Servers::forget() {
  if (server_) server_->model.forget_tracked(1 + network_.scheduler().below(4));
}

void Servers::flush() {
  if (server_) server_->model.flush_another_database();
}

void Servers::garble() {
  static constexpr std::array<std::string_view, 3> kGarbage = {"hello\r\n", "$-2\r\n",
                                                               "$999999999999\r\n"};
  const std::string_view bytes = kGarbage[network_.scheduler().below(kGarbage.size())];
  if (server_)
    server_->model.say(bytes, [](std::string_view name, int, bool) { return name == kTracker; });
}

// Only where the proxy can tell: it has been answered all that it has sent, and sends nothing more
// until it reads this.
void Servers::answer_twice() {
  if (!server_) return;
  server_->model.say("+OK\r\n", [this](std::string_view name, int fd, bool idle) {
    Node* peer = idle && name == "heatsink" ? network_.quiet_peer(fd) : nullptr;
    if (peer != nullptr) peer->stop_for(kReadsThen);
    return peer != nullptr;
  });
}

}  // namespace heatsink::simulation
