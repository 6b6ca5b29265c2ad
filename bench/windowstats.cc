// SPDX-License-Identifier: Apache-2.0
// bench_windowstats: what statistics of a window cost a server, by the design that keeps them.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/figures.h"
#include "bench/race.h"
#include "bench/windowstats_designs.h"
#include "heatsink/distributed/distributed.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::bench {
namespace {

constexpr double kCheaperMin = 100;  // than the sorted set, at a million
constexpr double kKilobytesMax = 200;
constexpr double kAddNsMax = 10;
constexpr std::size_t kMillion = 1'000'000;

// Times in microseconds with a long tail, as requests have them.
Numbers latencies() {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> tail(7, 1);
  Numbers numbers(1U << 16U);
  for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(tail(random));
  return numbers;
}

void show(Figures& figures, const std::string& name, const WindowCost& cost) {
  figures.row({name, std::to_string(cost.measured), fmt::format("{:.4f}", cost.server_us),
               fmt::format("{:.3f}", cost.event_us), fmt::format("{:.1f}", cost.kilobytes),
               fmt::format("{:.2f}", cost.read_ms), fmt::format("{:.2f}", cost.p99_error)});
}

void compare(Figures& figures, BlockingClient& client, const Numbers& numbers, std::size_t events,
             bool quick) {
  figures.table(fmt::format("{} events in the window", events),
                {"design", "measured", "srv us/ev", "us/event", "KB", "read ms", "p99 err %"});
  const std::size_t many = quick ? 2000 : 20'000;
  const std::size_t few = std::max<std::size_t>((quick ? 2'000'000 : 20'000'000) / events, 5);
  const WindowCost locked = sorted_set_with_lock(client, numbers, events, many);
  show(figures, "sorted set, lock", locked);
  const WindowCost script = sorted_set_script(client, numbers, events, many);
  show(figures, "sorted set, script", script);
  show(figures, "raw samples, lock", raw_samples(client, numbers, events, std::min(few, many)));
  const WindowCost one = window_statistics(client, numbers, events, 1);
  show(figures, "heatsink, 1 process", one);
  const WindowCost four = window_statistics(client, numbers, events, 4);
  show(figures, "heatsink, 4 processes", four);
  show(figures, "heatsink, 16 processes", window_statistics(client, numbers, events, 16));
  if (events != kMillion) return;
  figures.table("Targets at a million", {"", "asked", "reached", ""});
  const double cheaper = locked.server_us / one.server_us;
  figures.row({"server CPU, sorted set with lock : ours", fmt::format(">= {}", kCheaperMin),
               fmt::format("{:.0f}", cheaper), figures.judged(cheaper >= kCheaperMin)});
  const double to_script = script.server_us / one.server_us;
  figures.row({"... sorted set by script : ours", fmt::format(">= {}", kCheaperMin),
               fmt::format("{:.0f}", to_script), figures.judged(to_script >= kCheaperMin)});
  figures.row({"KB, all four shards in use", fmt::format("<= {}", kKilobytesMax),
               fmt::format("{:.1f}", four.kilobytes),
               figures.judged(four.kilobytes <= kKilobytesMax)});
}

// As many as a service may have, of 16 to 32 bytes, which differ here or there.
std::vector<std::string> some_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < count; ++n)
    names.push_back(fmt::format("api:{}:{}latency:us", n * 7919 % 10'000, n % 2 == 0 ? "" : "db-"));
  return names;
}

// What an event costs the process that adds it, with the summing and the flushing.
void measure_adding(Figures& figures, const std::string& socket, const Numbers& numbers) {
  constexpr std::size_t kAdds = 4'000'000;
  distributed::ServerOptions options;
  options.url = "unix://" + socket;
  const auto server = std::move(distributed::Server::open(options)).value();
  distributed::WindowStatistics stats(*server, {.seed = 1});
  const auto series = stats.series("checkout").value();
  const std::vector<std::string> names = some_names(64);
  std::vector<distributed::WindowStatistics::Series> many;
  many.reserve(names.size());
  for (const std::string& name : names) many.push_back(stats.series(name).value());
  const auto add_by = [&](auto name_of) {
    return [&, name_of] {
      for (std::size_t n = 0; n < kAdds; ++n) stats.add(name_of(n), numbers[n % numbers.size()]);
    };
  };
  Contender all[] = {
      {"by series", {add_by([&](std::size_t) { return series; })}, kAdds},
      {"by name, always the same",
       {add_by([](std::size_t) { return std::string_view("checkout:latency:us"); })},
       kAdds},
      {"by name, of 40 bytes",
       {add_by([](std::size_t) {
         return std::string_view("checkout:payments:eu-west-1:latency:p:us");
       })},
       kAdds},
      {"by series, 64 in turn", {add_by([&](std::size_t n) { return many[n % 64]; })}, kAdds},
      {"by name, 64 in turn",
       {add_by([&](std::size_t n) { return std::string_view(names[n % 64]); })},
       kAdds}};
  race(all, 9);
  figures.table("Adding a number, ns of CPU of one thread", {"", "asked", "reached", ""});
  for (const Contender& way : all) {
    const double ns = median(each(way, &Cost::cpu_ns));
    // Numbers of many series in turn also wait for the memory that they are summed in.
    const bool is_told = way.name.ends_with("in turn") || way.name.ends_with("bytes");
    figures.row({way.name, is_told ? "" : fmt::format("<= {}", kAddNsMax),
                 fmt::format("{:.1f}", ns), is_told ? "" : figures.judged(ns <= kAddNsMax)});
  }
}

int run(bool json, bool quick, bool only_adding) {
  const resp::testing::RedisProcess redis;
  if (!redis.running()) {
    fmt::print(stderr, "bench_windowstats needs redis-server in PATH\n");
    return 1;
  }
  Figures figures(json);
  BlockingClient client(redis.socket_path());
  const Numbers numbers = latencies();
  for (const std::size_t events : {std::size_t{10'000}, std::size_t{100'000}, kMillion}) {
    if (!only_adding) compare(figures, client, numbers, events, quick);
  }
  measure_adding(figures, redis.socket_path(), numbers);
  return figures.finish();
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  bool json = false, quick = false, only_adding = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    json = json || flag == "--json";
    quick = quick || flag == "--quick";
    only_adding = only_adding || flag == "--adding";
    if (flag != "--json" && flag != "--quick" && flag != "--adding") {
      fmt::print(stderr, "usage: bench_windowstats [--quick] [--adding] [--json]\n");
      return 2;
    }
  }
  return heatsink::bench::run(json, quick, only_adding);
}
