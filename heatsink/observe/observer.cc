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
  State(Server observed, const Login& login, std::vector<std::unique_ptr<Source>> all)
      : server(std::move(observed)), sources(std::move(all)), details(login) {
    links.push_back(std::make_unique<Link>(loop, server, details.conversation()));
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
    details.tick(now);
    for (const auto& link : links) link->update(now);
  }

  // The keys that are shown first are those that are asked about.
  void add_details(std::vector<Observation>& seen) {
    std::vector<DetailsReader::Key> keys;
    for (Observation& each : seen) {
      for (const detect::KeyReport& row : each.report.keys) {
        const detect::KeyCount& count = row.verdict.count;
        if (count.key_truncated || each.details.size() == DetailsReader::kKeysMax) break;
        const DetailsReader::Key key(count.db, count.key);
        const KeyDetails* known = details.find(key);
        each.details.push_back(known == nullptr ? std::nullopt : std::optional(*known));
        keys.push_back(key);
      }
    }
    details.want(keys);
  }

  const Server server;
  std::vector<std::unique_ptr<Source>> sources;
  DetailsReader details;
  net::EventLoop loop;
  std::vector<std::unique_ptr<Link>> links;  // before the loop ends
  std::thread thread;
};

Observer::Observer(Server server, const Login& login, std::vector<std::unique_ptr<Source>> sources)
    : state_(std::make_unique<State>(std::move(server), login, std::move(sources))) {
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
    state_->add_details(out);
    told.set_value(std::move(out));
  });
  return told.get_future().get();
}

}  // namespace heatsink::observe
