// SPDX-License-Identifier: Apache-2.0
// A scenario of the simulation: which clients read and write, what goes wrong, what is promised.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/consistency/verdict.h"
#include "tests/simulation/world.h"

namespace heatsink::simulation {

struct Scenario {
  std::string name;
  std::vector<std::string> sessions;  // LoadSpec as text
  std::size_t proxies = 1;
  std::size_t plain_proxies = 0;
  Nanos bound{};  // 0: all writers go through the one proxy
  consistency::Level level = consistency::Level::kKey;
  Conditions conditions{};
  ServerOptions servers{};
  SimulatedClusterOptions cluster{};
  Faults faults{};
  std::vector<std::string> options{};  // of the proxies: NAME=VALUE
  LibraryOptions library{};
  NetworkOptions network{};
  // No read is older than a write that was acknowledged before the read was sent.
  bool shows_acknowledged = false;
  std::vector<std::string> rules{};  // of the proxies: NAME=VALUE,NAME=VALUE
  Nanos length = std::chrono::seconds(2);
};

struct Played {
  consistency::Verdict verdict;
  std::uint64_t operations = 0;
  std::uint64_t hits = 0;
  std::uint64_t events = 0;
  std::uint64_t fingerprint = 0;  // of the history, with all its times
};

// In the order in which they are played in turn.
const std::vector<Scenario>& scenarios();

// Null: none has this name.
const Scenario* find_scenario(std::string_view name);

// Of a world that plays it.
WorldOptions world_options(const Scenario& scenario, std::uint64_t seed);

// The same scenario, seed and time play the same history.
Played play(const Scenario& scenario, std::uint64_t seed, Nanos time);

// Those with processes that use the library, and those about servers and their clocks.
std::vector<Scenario> library_scenarios();
std::vector<Scenario> server_scenarios();
// Those of a cluster.
std::vector<Scenario> cluster_scenarios();
// Those of keys with copies on its nodes.
std::vector<Scenario> spread_scenarios();

}  // namespace heatsink::simulation
