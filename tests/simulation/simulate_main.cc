// SPDX-License-Identifier: Apache-2.0
// heatsink_simulate: plays seeds of a simulated deployment and judges each history.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "heatsink/base/log.h"
#include "tests/consistency/verdict.h"
#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Plays seeds of a simulated deployment and judges each history.");
  std::uint64_t seed = 1, count = 1;
  double seconds = 2, for_seconds = 0;
  std::string only;
  bool talks = false;
  app.add_option("--seed", seed, "First seed");
  app.add_option("--count", count, "Number of seeds");
  app.add_option("--for", for_seconds, "Play seeds for so many seconds of real time");
  app.add_option("--length", seconds, "Virtual seconds per seed");
  app.add_option("--scenario", only, "Play this scenario only");
  app.add_flag("--log", talks, "Show the proxies' log");
  CLI11_PARSE(app, argc, argv);
  if (!talks) set_log_level(LogLevel::kOff);

  const auto began = std::chrono::steady_clock::now();
  const auto played = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  std::uint64_t operations = 0, hits = 0, events = 0, broken = 0, seeds = 0;
  for (; for_seconds > 0 ? played() < for_seconds : seeds < count; ++seeds) {
    const Scenario& scenario = scenario_of(seed + seeds, only);
    const Played result = play(scenario, seed + seeds, std::chrono::round<Nanos>(
                                                           std::chrono::duration<double>(seconds)));
    operations += result.operations;
    hits += result.hits;
    events += result.events;
    if (result.verdict.violations.empty()) continue;
    ++broken;
    fmt::print("seed {} ({}): broken\n{}", seed + seeds, scenario.name,
               consistency::to_text(result.verdict, scenario.bound));
  }
  fmt::print("{} seeds, {} broken: {} operations, {} hits, {} events in {:.1f} s: {:.2f} M/min\n",
             seeds, broken, operations, hits, events, played(),
             static_cast<double>(operations) / played() * 60 / 1e6);
  return broken == 0 ? 0 : 1;
}

}  // namespace
}  // namespace heatsink::simulation

int main(int argc, char** argv) { return heatsink::simulation::run(argc, argv); }
