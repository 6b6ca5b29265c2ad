// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/observer.h"

#include <future>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace heatsink::observe {
namespace {

constexpr Nanos kTick = Millis(5);

}  // namespace

struct Observer::State {
  State(ServerAddress named, FleetOptions options, ResolveNode how)
      : seed(std::move(named)), fleet(std::move(options)), resolver(std::move(how)) {
    loop.call_every(kTick, [] {});  // at least one turn per tick
    loop.on_turn_end([this] { turn(); });
  }

  void turn() {
    const TimePoint now = BootClock::now();
    fleet.tick(now);
    // First drop the connections of removed nodes: their protocols no longer exist.
    if (std::exchange(seen_changes, fleet.changes()) != fleet.changes()) drop_links();
    if (const auto connection = fleet.guide_connection()) update(*connection, seed, now);
    for (const auto& node : fleet.nodes()) {
      const NodeResolver::Found found = node->probe ? resolver.find(node->name, node->address, now)
                                                    : NodeResolver::Found{&seed, ""};
      for (const ConnectionSpec& connection : node->connections) {
        if (found.server != nullptr)
          update(connection, *found.server, now);
        else if (!found.trouble.empty() && connection.protocol->wanted())
          connection.protocol->lost({ErrorCode::kUnavailable, found.trouble}, now);
      }
    }
  }

  void drop_links() {
    std::set<std::uint64_t> there;
    if (const auto connection = fleet.guide_connection()) there.insert(connection->id);
    std::set<std::string> names;
    for (const auto& node : fleet.nodes()) {
      names.insert(node->name);
      for (const ConnectionSpec& connection : node->connections) there.insert(connection.id);
    }
    std::erase_if(links, [&there](const auto& link) { return !there.contains(link.first); });
    resolver.keep_only(names);
  }

  void update(const ConnectionSpec& connection, const ServerAddress& server, TimePoint now) {
    auto& link = links[connection.id];
    if (!link) {
      link = std::make_unique<ServerConnection>(
          loop, server, *connection.protocol,
          [this](const std::string& local) { fleet.own_connection(local); });
    }
    link->update(now);
  }

  const ServerAddress seed;
  Fleet fleet;
  net::EventLoop loop;
  NodeResolver resolver;  // declared before the connections that refer to its addresses
  std::map<std::uint64_t, std::unique_ptr<ServerConnection>>
      links;  // by ConnectionSpec::id; destroyed before the loop
  std::uint64_t seen_changes = 0;
  std::thread thread;
};

Observer::Observer(ServerAddress seed, FleetOptions options, ResolveNode resolve)
    : state_(std::make_unique<State>(std::move(seed), std::move(options), std::move(resolve))) {
  state_->thread = std::thread([this] { state_->loop.run(); });
}

Observer::~Observer() {
  state_->loop.stop();
  state_->thread.join();
}

void Observer::look_closer(std::optional<CloserKey> key) {
  // Refused while thousands wait: the person asks again.
  static_cast<void>(
      state_->loop.try_post([this, key = std::move(key)] { state_->fleet.look_closer(key); }));
}

Picture Observer::observe() {
  std::promise<Picture> told;
  state_->loop.post([this, &told] { told.set_value(state_->fleet.observe(BootClock::now())); });
  return told.get_future().get();
}

}  // namespace heatsink::observe
