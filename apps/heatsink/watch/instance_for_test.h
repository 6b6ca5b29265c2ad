// SPDX-License-Identifier: Apache-2.0
// Instances for tests of heatsink watch, with counts as their answers would bring them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/watch/sum.h"

namespace heatsink::app {

inline constexpr TimePoint kWatchStarted{std::chrono::seconds(100)};
inline constexpr TimePoint kWatchNow{std::chrono::seconds(200)};

struct CountedKey {
  std::string name;
  double low = 0, high = 0;
};

// An instance that answers: `others` is what a key that it does not name has at most.
inline Instance instance_with(std::string name, const std::vector<CountedKey>& keys,
                              double others) {
  Instance out{.name = std::move(name), .since = kWatchStarted};
  heat::Moment& counts = out.counts.emplace();
  counts.at = kWatchNow;
  counts.window = std::chrono::seconds(10);
  counts.unnamed_max[0] = others;
  counts.unnamed_max[1] = 0;
  for (const CountedKey& key : keys) {
    counts.totals.requests += key.low;
    counts.totals.reads += key.low;
    counts.items.push_back(
        {.identity = {.name = key.name}, .rate = key.low, .rate_high = key.high});
  }
  auto view = std::make_shared<HotkeysView>();
  view->window = counts.window;
  view->node.upstream_up = true;
  view->node.coherence = "up";
  view->node.requests_rate = counts.totals.requests;
  out.view = std::move(view);
  return out;
}

// The same with a verdict on one of its keys.
inline Instance with_verdict(Instance instance, const std::string& name, std::string verdict,
                             Nanos age = std::chrono::seconds(5)) {
  auto view = std::make_shared<HotkeysView>(*instance.view);
  KeyView& key = view->keys.emplace_back();
  key.name = key.raw_name = name;
  key.dimension = "requests";
  key.window = std::chrono::seconds(10);
  key.verdict = std::move(verdict);
  key.reason = "it is";
  key.age = age;
  instance.view = std::move(view);
  return instance;
}

inline Instance silent_instance(std::string name) {
  return {.name = std::move(name), .since = kWatchStarted, .problem = "timed out"};
}

inline Picture picture_with(std::vector<Instance> instances) {
  return picture_of(std::move(instances), kWatchStarted, kWatchNow, 7);
}

}  // namespace heatsink::app
