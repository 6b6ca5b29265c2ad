// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/scenario.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "heatsink/base/option.h"

namespace heatsink::simulation {
namespace {

constexpr Nanos kBound = std::chrono::seconds(1);  // cache.max-staleness

// Everything that clients of a proxy do.
std::vector<std::string> through(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=6,depth=16,set=10,mget=20,lcs=20,think-us=1000",
          who + ",count=4,depth=4,set=20,del=5,mget=50,lcs=50,db=1,think-us=500",
          who + ",count=2,depth=1,set=50,px=20,expire=10,think-us=300",
          who + ",count=1,depth=8,eval=20,flush=1,think-us=2000",
          who + ",count=2,cas=2000,think-us=1000"};
}

std::vector<std::string> past() {
  return {"via=0,count=2,depth=2,set=2000,px=500,del=200,think-us=2000",
          "via=0,count=1,depth=1,set=2000,think-us=3000,db=1"};
}

std::vector<std::string> operator+(std::vector<std::string> left,
                                   const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const std::vector<Scenario>& scenarios() {
  static const Faults kAll{.stop_server = 0.3,
                           .stop_loop = 0.5,
                           .stop_proxy = 0.3,
                           .restart_proxy = 0.2,
                           .restart_server = 0.1,
                           .cut = 0.3,
                           .cut_trackers = 0.3,
                           .forget = 1};
  static const std::vector<Scenario> all = {
      {.name = "one proxy", .sessions = through(1)},
      {.name = "one proxy, faults", .sessions = through(1), .faults = kAll},
      {.name = "writers past it", .sessions = through(1) + past(), .bound = kBound},
      {.name = "writers past it, faults",
       .sessions = through(1) + past(),
       .bound = kBound,
       .faults = kAll},
      {.name = "two proxies",
       .sessions = through(1) + through(2) + past(),
       .proxies = 2,
       .bound = kBound},
      {.name = "two proxies, faults",
       .sessions = through(1) + through(2) + past(),
       .proxies = 2,
       .bound = kBound,
       .faults = kAll},
  };
  static const std::vector<Scenario> with_libraries = [] {
    std::vector<Scenario> both = all;
    for (Scenario& each : library_scenarios()) both.push_back(std::move(each));
    return both;
  }();
  return with_libraries;
}

proxy::ProxyOptions options_of(const Scenario& scenario) {
  proxy::ProxyOptions options;
  options.workers = 2;
  options.upstream = "redis://127.0.0.1:6379";
  options.admin = "off";
  OptionSet set;
  options.describe(set);
  const std::vector<std::string> eager = {
      "detection.hot-qps=2",          "detection.window=1s", "detection.minimum-residence=1h",
      "detection.write-hot-ratio=0", "detection.tick=20ms", "audit.sample-rate=0%"};
  for (const auto& list : {eager, scenario.options}) {
    for (const std::string& assignment : list) {
      const std::size_t at = assignment.find('=');
      const Status done = set.set(assignment.substr(0, at), assignment.substr(at + 1));
      if (done.ok()) continue;
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      std::abort();
    }
  }
  return options;
}

}  // namespace

const Scenario& scenario_of(std::uint64_t seed, std::string_view name) {
  const std::vector<Scenario>& all = scenarios();
  if (name.empty()) return all[seed % all.size()];
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Scenario& each) { return each.name == name; });
  assert(found != all.end());
  return *found;
}

Played play(const Scenario& scenario, std::uint64_t seed, Nanos time) {
  WorldOptions options;
  options.seed = seed;
  options.proxies = scenario.proxies;
  options.proxy = options_of(scenario);
  options.faults = scenario.faults;
  options.library = scenario.library;
  options.network = scenario.network;
  for (const std::string& text : scenario.sessions)
    options.sessions.push_back(consistency::parse_load_spec(text).value());
  World world(std::move(options));
  world.play(time);
  Played out;
  const consistency::History& history = world.recorder().history;
  out.verdict = consistency::judge(history, scenario.bound, scenario.level);
  out.operations = history.size();
  out.hits = world.hits();
  out.events = world.events();
  return out;
}

}  // namespace heatsink::simulation
