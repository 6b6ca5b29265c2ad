// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/worker.h"

#include <future>
#include <utility>

namespace heatsink::app {
namespace {

// The size of part `index` when `whole` is divided into `parts` as evenly as possible.
std::size_t share(std::size_t whole, std::size_t parts, std::size_t index) {
  return whole / parts + (index < whole % parts ? 1 : 0);
}

}  // namespace

LoadWorker::LoadWorker(const LoadOptions& options, const LoadTarget& target, std::size_t index)
    : options_(options),
      index_(index),
      preload_(index, options.threads, options.preload ? options.keys : 0) {
  const std::size_t clients = share(options.clients, options.threads, index);
  for (std::size_t i = 0; i < clients; ++i) {
    connections_.push_back(std::make_unique<LoadConnection>(loop_, target, tally_, options_.shape));
    connections_.back()->use(preload_);
  }
  thread_ = std::thread([this] { run(); });
}

LoadWorker::~LoadWorker() {
  loop_.stop();
  thread_.join();
}

void LoadWorker::run() {
  for (auto& connection : connections_) connection->connect();
  loop_.call_every(kTick, [this] { tick(); });
  loop_.run();
  connections_.clear();
}

void LoadWorker::tick() {
  const TimePoint now = BootClock::now();
  for (auto& connection : connections_) connection->check_timeout(now);
  preloaded_.store(preload_.answered_count(), std::memory_order_relaxed);
  if (preload_.done()) preload_done_.store(true, std::memory_order_release);
  // Another client comes first in each turn, so that no client gets the whole rate.
  first_to_pump_ = (first_to_pump_ + 1) % connections_.size();
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    connections_[(first_to_pump_ + i) % connections_.size()]->pump(now);
  }
}

MixedSource::Keys LoadWorker::keys() const {
  if (const KeyList* list = options_.shape.names.get())
    return ListOrder(*list, options_.first_line + index_, options_.threads);
  return Zipf(options_.keys, options_.zipf);
}

void LoadWorker::begin_load() {
  loop_.post([this] {
    const double rate = options_.rate / static_cast<double>(options_.threads);
    mixed_.emplace(keys(), options_.write_ratio,
                   Random(options_.seed * 0x9E3779B97F4A7C15ULL + index_),
                   Pacer(rate, BootClock::now()));
    tally_ = Tally{};
    for (auto& connection : connections_) {
      connection->use(*mixed_);
      connection->pump(BootClock::now());
    }
  });
}

Tally LoadWorker::take() {
  std::promise<Tally> promise;
  loop_.post([this, &promise] { promise.set_value(hand_over()); });
  return promise.get_future().get();
}

Tally LoadWorker::hand_over() {
  if (mixed_)
    tally_.given_up = mixed_->given_up() - std::exchange(given_up_told_, mixed_->given_up());
  return std::exchange(tally_, Tally{});
}

}  // namespace heatsink::app
