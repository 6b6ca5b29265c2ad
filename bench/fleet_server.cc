// SPDX-License-Identifier: Apache-2.0
// What a fleet costs a real redis-server: its members in real time, one connection each.
#include <unistd.h>
#include <charconv>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench/fleet_simulation.h"
#include "bench/fleet_windows.h"
#include "heatsink/distributed/server_nodes.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::bench {
namespace {

// CPU seconds of a process so far: fields 14 and 15 of /proc/PID/stat (proc(5)).
double cpu_seconds(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  std::istringstream fields(text.str().substr(text.str().rfind(')') + 1));
  std::string field;
  double ticks = 0;
  for (int i = 3; fields >> field && i <= 15; ++i)
    if (i >= 14) ticks += std::stod(field);
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::uint64_t reports_of(const std::vector<std::unique_ptr<fleet::Link>>& links) {
  std::uint64_t sum = 0;
  for (const auto& link : links) sum += link->member().counts().reports;
  return sum;
}

}  // namespace

ServerCost measure_server(std::uint64_t instances, Nanos time) {
  const resp::testing::RedisProcess redis("--maxclients", "20000");
  if (!redis.running()) return {};
  net::EventLoop loop;
  FleetLoad load;
  load.instances = instances;
  std::deque<SimulatedCounts> counts;
  std::vector<std::unique_ptr<fleet::Link>> links;
  for (std::uint64_t i = 0; i < instances; ++i) {
    SimulatedCounts& counted = counts.emplace_back(load, i);
    fleet::LinkOptions options;
    options.url.unix_path = redis.socket_path();
    options.member.id = "instance-" + std::to_string(i);
    options.member.seed = kFleetSeed;
    options.member.random_seed = i;
    links.push_back(std::make_unique<fleet::Link>(
        loop, options, [&loop, &counted] { return counted.windows(loop.now(), 0); }));
    links.back()->begin();
  }
  const auto run_for = [&loop](Nanos how_long) {
    for (const TimePoint end = loop.clock() + how_long; loop.clock() < end;) loop.turn(Millis(10));
  };
  // Until the fleet has found its pace, and the first reports are two of its steps old.
  run_for(std::chrono::seconds(3) + 2 * fleet::step_of(instances, Millis(250)));
  const double before_s = cpu_seconds(redis.pid());
  const std::uint64_t reports = reports_of(links);
  run_for(time);
  const double seconds = std::chrono::duration<double>(time).count();
  ServerCost cost;
  cost.cores = (cpu_seconds(redis.pid()) - before_s) / seconds;
  cost.reports_per_s = static_cast<double>(reports_of(links) - reports) / seconds;
  return cost;
}

double cores_of_pings(double per_s, Nanos time) {
  const resp::testing::RedisProcess redis("--maxclients", "20000");
  if (!redis.running()) return -1;
  net::EventLoop loop;
  net::RedisUrl url;
  url.unix_path = redis.socket_path();
  std::deque<distributed::ServerNode> nodes;
  for (int i = 0; i < 200; ++i)
    nodes.emplace_back(loop, url, net::TlsContext(), distributed::ServerOptions{}).link.connect();
  std::size_t next = 0;
  loop.call_every(Nanos(static_cast<Nanos::rep>(1e9 / per_s)), [&] {
    distributed::ServerNode& node = nodes[next++ % nodes.size()];
    const std::string_view ping = "PING";
    node.pipeline.ask(
        {&ping, 1}, [](const Result<resp::Value>&) {}, loop.clock());
    node.link.flush();
  });
  const auto run_for = [&loop](Nanos how_long) {
    for (const TimePoint end = loop.clock() + how_long; loop.clock() < end;) loop.turn(Millis(10));
  };
  run_for(std::chrono::seconds(2));
  const double before_s = cpu_seconds(redis.pid());
  run_for(time);
  const double cores =
      (cpu_seconds(redis.pid()) - before_s) / std::chrono::duration<double>(time).count();
  for (distributed::ServerNode& node : nodes) node.pipeline.disconnected("the bench is over");
  return cores;
}

}  // namespace heatsink::bench
