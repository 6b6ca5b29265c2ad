// SPDX-License-Identifier: Apache-2.0
// bench_stats: what recording a number costs, and how far quantiles are off.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/figures.h"
#include "bench/race.h"
#include "heatsink/stats/stats.h"

namespace heatsink::bench {
namespace {

constexpr std::size_t kNumbers = 4'000'000;
constexpr Nanos kStep{100};  // so that slots turn within the measurement
constexpr int kRounds = 7;
constexpr double kRecordNsMax = 10;
constexpr TimePoint kStart{std::chrono::hours(1)};

// Times in microseconds with a long tail, as requests have them.
std::vector<std::int64_t> latencies() {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> tail(7, 1);
  std::vector<std::int64_t> numbers(1U << 16U);
  for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(tail(random));
  return numbers;
}

void measure_cost(Figures& figures, const std::vector<std::int64_t>& numbers) {
  stats::Window window({.length = std::chrono::seconds(1), .slots = 10});
  Contender all[] = {{"Window::record", {}, kNumbers}};
  all[0].threads.emplace_back([&, now = kStart]() mutable {
    for (std::size_t n = 0; n < kNumbers; ++n)
      window.record(numbers[n % numbers.size()], now += kStep);
  });
  race(all, kRounds);
  const double cost = median(each(all[0], &Cost::cpu_ns));
  figures.table("Recording a number", {"", "asked", "reached", ""});
  figures.row({"ns of CPU, one thread", fmt::format("<= {}", kRecordNsMax),
               fmt::format("{:.1f}", cost), figures.judged(cost <= kRecordNsMax)});
  figures.note(fmt::format("{} KiB for ten slots", window.memory_bytes() / 1024));
}

void measure_error(Figures& figures, std::vector<std::int64_t> numbers) {
  stats::Summary summary;
  for (const std::int64_t number : numbers) summary.add(number);
  std::sort(numbers.begin(), numbers.end());
  figures.table("Quantiles", {"", "asked %", "reached %", ""});
  for (const double q : {0.5, 0.9, 0.99}) {
    const double rank = std::ceil(q * static_cast<double>(numbers.size())) - 1;
    const auto exact = static_cast<double>(numbers[static_cast<std::size_t>(rank)]);
    const double off = std::abs(static_cast<double>(summary.quantile(q)) - exact) / exact;
    figures.row({fmt::format("p{:g}", 100 * q), fmt::format("<= {:.2f}", 100 * stats::kErrorMax),
                 fmt::format("{:.2f}", 100 * off), figures.judged(off <= stats::kErrorMax)});
  }
  figures.note(fmt::format("{} bytes on the wire", stats::encode(summary).size()));
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 2 || (argc == 2 && !json)) {
    fmt::print(stderr, "usage: bench_stats [--json]\n");
    return 2;
  }
  heatsink::bench::Figures figures(json);
  heatsink::bench::measure_cost(figures, heatsink::bench::latencies());
  heatsink::bench::measure_error(figures, heatsink::bench::latencies());
  return figures.finish();
}
