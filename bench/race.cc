// SPDX-License-Identifier: Apache-2.0
#include "bench/race.h"

#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>

namespace heatsink::bench {
namespace {

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

using Steady = std::chrono::steady_clock;

struct Span {
  Steady::time_point begin, end;
  double cpu_s = 0;
};

// The pass before the one that is timed brings what it needs to the core that the thread is on. The
// threads themselves look at the clock: whoever started them may be told late that they run.
Cost run(const Contender& contender) {
  const std::size_t n = contender.threads.size();
  std::barrier start(static_cast<std::ptrdiff_t>(n));
  std::vector<Span> spans(n);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      contender.threads[i]();
      start.arrive_and_wait();
      spans[i].begin = Steady::now();
      const double begin = cpu_seconds();
      contender.threads[i]();
      spans[i].cpu_s = cpu_seconds() - begin;
      spans[i].end = Steady::now();
    });
  }
  for (std::thread& thread : threads) thread.join();
  Span all = spans[0];
  for (const Span& span : std::span(spans).subspan(1)) {
    all.begin = std::min(all.begin, span.begin);
    all.end = std::max(all.end, span.end);
    all.cpu_s += span.cpu_s;
  }
  const std::chrono::duration<double> wall = all.end - all.begin;
  const double scale = 1e9 / static_cast<double>(contender.operations);
  return {all.cpu_s / static_cast<double>(n) * scale, wall.count() * scale};
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
