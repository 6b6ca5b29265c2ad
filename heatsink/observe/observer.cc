// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/observer.h"

#include <future>
#include <thread>
#include <utility>

namespace heatsink::observe {
namespace {

constexpr Nanos kTick = Millis(5);

}  // namespace

struct Observer::State {
  State(Server observed, std::vector<std::unique_ptr<Source>> all)
      : server(std::move(observed)), sources(std::move(all)) {
    for (const auto& source : sources) {
      for (Conversation* conversation : source->conversations())
        links.push_back(std::make_unique<Link>(loop, server, *conversation));
    }
    loop.call_every(kTick, [] {});  // a turn at least so often
    loop.on_turn_end([this] { turn(); });
  }

  void turn() {
    const TimePoint now = BootClock::now();
    for (const auto& source : sources) source->tick(now);
    for (const auto& link : links) link->update(now);
  }

  const Server server;
  std::vector<std::unique_ptr<Source>> sources;
  net::EventLoop loop;
  std::vector<std::unique_ptr<Link>> links;  // before the loop ends
  std::thread thread;
};

Observer::Observer(Server server, std::vector<std::unique_ptr<Source>> sources)
    : state_(std::make_unique<State>(std::move(server), std::move(sources))) {
  state_->thread = std::thread([this] { state_->loop.run(); });
}

Observer::~Observer() {
  state_->loop.stop();
  state_->thread.join();
}

std::vector<Observation> Observer::observe() {
  std::promise<std::vector<Observation>> told;
  state_->loop.post([this, &told] {
    std::vector<Observation> out;
    const TimePoint now = BootClock::now();
    for (const auto& source : state_->sources) out.push_back(source->observe(now));
    told.set_value(std::move(out));
  });
  return told.get_future().get();
}

}  // namespace heatsink::observe
