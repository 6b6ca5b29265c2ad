// SPDX-License-Identifier: Apache-2.0
// Makes a broken history smaller: a shorter time, fewer sessions, fewer kinds of faults.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {

struct FaultKind {
  std::string_view name;
  double Faults::*rate;
};
std::span<const FaultKind> fault_kinds();

struct Shrunk {
  Scenario scenario;
  Nanos time{};
  std::uint64_t seed = 0;
  std::size_t attempts = 0;
};

// Whether such a run is broken.
using IsBroken = std::function<bool(const Scenario& scenario, std::uint64_t seed, Nanos time)>;

// Tries until nothing more can be left out, or `attempts_max` runs were made. A smaller run is
// another run: with each change a few seeds are tried. REQUIRES is_broken(scenario, seed, time).
Shrunk shrink(const Scenario& scenario, std::uint64_t seed, Nanos time, std::size_t attempts_max,
              const IsBroken& is_broken);

}  // namespace heatsink::simulation
