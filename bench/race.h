// SPDX-License-Identifier: Apache-2.0
// Times contenders against each other in one run: a slow moment of the machine meets them all.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heatsink::bench {

// Of one operation, in nanoseconds.
struct Cost {
  double cpu_ns;   // of each thread
  double wall_ns;  // from the start of all to the end of the last, by operations of one thread
};

struct Contender {
  std::string name;
  std::vector<std::function<void()>> threads;  // a pass of each
  std::size_t operations;                      // in a pass of one thread
  std::vector<Cost> costs{};                   // a round each
};

// Each in turn, round by round. The first round fills tables and caches and is not counted.
void race(std::span<Contender> contenders, int rounds);

std::vector<double> each(const Contender& contender, double Cost::*what);
double median(std::vector<double> values);  // REQUIRES some
// The median over rounds of the ratio within a round.
double ratio(const Contender& of, const Contender& to, double Cost::*what);

}  // namespace heatsink::bench
