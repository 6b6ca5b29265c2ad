// SPDX-License-Identifier: Apache-2.0
// How soon a fleet finds a key that is hot in the sum, and what that costs the server
// (docs/design/scale.md).
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/figures.h"
#include "bench/fleet_simulation.h"
#include "heatsink/fleet/fleet.h"

namespace {

using heatsink::bench::Figures;
using heatsink::bench::FleetFound;
using heatsink::bench::FleetLoad;
using heatsink::bench::ServerCost;
using heatsink::bench::ServerEvent;

// One shard for up to 1000 instances, as docs/guides/fleet.md advises.
std::uint64_t shards_for(std::uint64_t instances) { return (instances + 999) / 1000; }

void show_time_to_find(Figures& figures, const std::vector<std::uint64_t>& sizes) {
  figures.table("Time to find (virtual time; the key gets 5 % of the traffic of each instance)",
                {"instances", "shards", "step s", "first s", "median s", "99 % s", "last s",
                 "reports/s", "commands/s", "MB/s in", "MB/s out", "found"});
  for (const std::uint64_t instances : sizes) {
    FleetLoad load;
    load.instances = instances;
    load.shards = shards_for(instances);
    const FleetFound found = heatsink::bench::simulate_fleet(load);
    // Counting; members report and read again within a look of each other; each shard gets a copy.
    const heatsink::Nanos waits =
        2 * heatsink::fleet::look_of(instances, heatsink::Millis(250)) +
        2 * (load.shards > 1 ? heatsink::fleet::copy_of(load.shards, heatsink::Millis(250))
                             : heatsink::Nanos(0));
    const bool is_in_time =
        found.by_all && found.median_s <= 1 + std::chrono::duration<double>(waits).count();
    figures.row({std::to_string(instances), std::to_string(load.shards),
                 fmt::format("{:.2f}", found.step_s), fmt::format("{:.2f}", found.first_s),
                 fmt::format("{:.2f}", found.median_s), fmt::format("{:.2f}", found.most_s),
                 fmt::format("{:.2f}", found.last_s), fmt::format("{:.0f}", found.reports_per_s),
                 fmt::format("{:.0f}", found.commands_per_s),
                 fmt::format("{:.1f}", found.in_mb_per_s),
                 fmt::format("{:.1f}", found.out_mb_per_s), figures.judged(is_in_time)});
  }
}

void show_server_cost(Figures& figures, const std::vector<std::uint64_t>& sizes,
                      heatsink::Nanos time) {
  figures.table("A real redis-server, one shard, real time, a connection for each instance",
                {"instances", "reports/s", "CPU %", "PINGs %", "beyond %", "us/report", "<= 1 %"});
  std::vector<std::vector<std::string>> events;
  for (const std::uint64_t instances : sizes) {
    const ServerCost cost = heatsink::bench::measure_server(instances, time);
    if (cost.cores < 0) {
      figures.note("There is no redis-server, so its CPU was not measured.");
      return;
    }
    const double pings = heatsink::bench::cores_of_pings(cost.reports_per_s, time);
    figures.row({std::to_string(instances), fmt::format("{:.0f}", cost.reports_per_s),
                 fmt::format("{:.2f}", 100 * cost.cores), fmt::format("{:.2f}", 100 * pings),
                 fmt::format("{:.2f}", 100 * (cost.cores - pings)),
                 fmt::format("{:.1f}", 1e6 * cost.cores / cost.reports_per_s),
                 figures.judged(cost.cores - pings <= 0.01)});
    const ServerEvent& event = cost.event;
    events.push_back({std::to_string(instances), fmt::format("{:.2f}", event.median_s),
                      fmt::format("{:.2f}", event.last_s),
                      fmt::format("{:.0f}", event.reports_per_s),
                      fmt::format("{:.1f}", 100 * event.cores),
                      fmt::format("{:.1f}", 100 * event.cores_max), figures.judged(event.by_all)});
  }
  figures.note(
      "PINGs %: as many PINGs, each alone on its connection: what waking an idle server "
      "costs on this machine. A busy server is awake.");
  figures.table("The same servers in an event: all members see a new key, until the last knows it",
                {"instances", "median s", "last s", "reports/s", "CPU %", "busiest s %", "found"});
  for (const auto& event : events) figures.row(event);
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false, json = false, finds = true, costs = true;
  std::uint64_t only = 0;  // instances
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--quick") {
      quick = true;
    } else if (flag == "--json") {
      json = true;
    } else if (flag == "--only-find") {
      costs = false;
    } else if (flag == "--only-server") {
      finds = false;
    } else if (flag.starts_with("--instances=")) {
      only = std::strtoull(argv[i] + std::strlen("--instances="), nullptr, 10);
    } else {
      fmt::print(stderr,
                 "usage: bench_fleet [--quick] [--json] [--only-find | --only-server] "
                 "[--instances=N]\n");
      return 2;
    }
  }
  Figures figures(json);
  std::vector<std::uint64_t> sizes{20, 100, 1000};
  if (!quick) sizes.insert(sizes.end(), {10'000, 100'000});
  std::vector<std::uint64_t> served{100, 500, 1000};
  if (only > 0) sizes = served = {only};
  if (finds)
    show_time_to_find(figures, quick && only == 0 ? std::vector<std::uint64_t>{20, 100} : sizes);
  if (!quick && costs) show_server_cost(figures, served, std::chrono::seconds(20));
  return figures.finish();
}
