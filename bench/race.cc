// SPDX-License-Identifier: Apache-2.0
#include "bench/race.h"

#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <numeric>
#include <thread>

namespace heatsink::bench {
namespace {

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Cost run(const Contender& contender) {
  using Steady = std::chrono::steady_clock;
  const std::size_t n = contender.threads.size();
  std::barrier start(static_cast<std::ptrdiff_t>(n) + 1);
  std::vector<double> cpu(n);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      const double begin = cpu_seconds();
      contender.threads[i]();
      cpu[i] = cpu_seconds() - begin;
    });
  }
  start.arrive_and_wait();
  const auto begin = Steady::now();
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> wall = Steady::now() - begin;
  const double scale = 1e9 / static_cast<double>(contender.operations);
  return {std::accumulate(cpu.begin(), cpu.end(), 0.0) / static_cast<double>(n) * scale,
          wall.count() * scale};
}

}  // namespace

void race(std::span<Contender> contenders, int rounds) {
  for (int round = 0; round <= rounds; ++round) {
    for (Contender& contender : contenders) {
      const Cost cost = run(contender);
      if (round != 0) contender.costs.push_back(cost);
    }
  }
}

std::vector<double> each(const Contender& contender, double Cost::*what) {
  std::vector<double> values;
  for (const Cost& cost : contender.costs) values.push_back(cost.*what);
  return values;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double ratio(const Contender& of, const Contender& to, double Cost::*what) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < of.costs.size(); ++i)
    ratios.push_back(of.costs[i].*what / to.costs[i].*what);
  return median(ratios);
}

}  // namespace heatsink::bench
