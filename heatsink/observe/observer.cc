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
  State(Server named, FleetOptions options, Reach how)
      : seed(std::move(named)), fleet(std::move(options)), places(std::move(how)) {
    loop.call_every(kTick, [] {});  // a turn at least so often
    loop.on_turn_end([this] { turn(); });
  }

  void turn() {
    const TimePoint now = BootClock::now();
    fleet.tick(now);
    // Before all else: what has gone must not be touched.
    if (std::exchange(seen_changes, fleet.changes()) != fleet.changes()) drop_links();
    if (const auto line = fleet.guide_line()) update(*line, seed, now);
    for (const auto& node : fleet.nodes()) {
      const Places::Found place =
          node->probe ? places.find(node->name, node->address, now) : Places::Found{&seed, ""};
      for (const Line& line : node->lines) {
        if (place.server != nullptr)
          update(line, *place.server, now);
        else if (!place.trouble.empty() && line.conversation->wanted())
          line.conversation->lost({ErrorCode::kUnavailable, place.trouble}, now);
      }
    }
  }

  void drop_links() {
    std::set<std::uint64_t> there;
    if (const auto line = fleet.guide_line()) there.insert(line->id);
    std::set<std::string> names;
    for (const auto& node : fleet.nodes()) {
      names.insert(node->name);
      for (const Line& line : node->lines) there.insert(line.id);
    }
    std::erase_if(links, [&there](const auto& link) { return !there.contains(link.first); });
    places.keep_only(names);
  }

  void update(const Line& line, const Server& server, TimePoint now) {
    auto& link = links[line.id];
    if (!link) {
      link =
          std::make_unique<Link>(loop, server, *line.conversation,
                                 [this](const std::string& local) { fleet.own_connection(local); });
    }
    link->update(now);
  }

  const Server seed;
  Fleet fleet;
  net::EventLoop loop;
  Places places;                                         // before the links to them
  std::map<std::uint64_t, std::unique_ptr<Link>> links;  // by line; before the loop ends
  std::uint64_t seen_changes = 0;
  std::thread thread;
};

Observer::Observer(Server seed, FleetOptions options, Reach reach)
    : state_(std::make_unique<State>(std::move(seed), std::move(options), std::move(reach))) {
  state_->thread = std::thread([this] { state_->loop.run(); });
}

Observer::~Observer() {
  state_->loop.stop();
  state_->thread.join();
}

void Observer::look_closer(std::optional<CloserKey> key) {
  state_->loop.post([this, key = std::move(key)] { state_->fleet.look_closer(key); });
}

Picture Observer::observe() {
  std::promise<Picture> told;
  state_->loop.post([this, &told] { told.set_value(state_->fleet.observe(BootClock::now())); });
  return told.get_future().get();
}

}  // namespace heatsink::observe
