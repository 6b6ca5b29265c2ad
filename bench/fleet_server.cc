// SPDX-License-Identifier: Apache-2.0
// What a fleet costs a real redis-server: its members in real time, one connection each.
#include <time.h>
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "bench/fleet_judge.h"
#include "bench/fleet_simulation.h"
#include "bench/fleet_windows.h"
#include "heatsink/distributed/server_nodes.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::bench {
namespace {

// CPU seconds of a process so far.
double cpu_seconds(int pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// All members of a fleet before one server.
class ServedFleet {
 public:
  ServedFleet(const resp::testing::RedisProcess& redis, const FleetLoad& load)
      : redis_(redis), keys_(load), discovery_(1, judging_.rules) {
    for (std::uint64_t i = 0; i < load.instances; ++i) instances_.emplace_back(*this, load, i);
  }

  void run_for(Nanos how_long) {
    for (const TimePoint end = loop_.clock() + how_long; loop_.clock() < end;)
      loop_.turn(Millis(10));
  }

  ServerCost quiet(Nanos time) {
    ServerCost cost;
    const double cpu_s = cpu_seconds(redis_.pid());
    const std::uint64_t before = reports();
    run_for(time);
    cost.cores = (cpu_seconds(redis_.pid()) - cpu_s) / seconds(time);
    cost.reports_per_s = static_cast<double>(reports() - before) / seconds(time);
    return cost;
  }

  // The new key begins to get its share, and the fleet runs until all call it hot.
  ServerEvent event(Nanos longest) {
    constexpr Nanos kSlice = std::chrono::seconds(1);
    ServerEvent event;
    const TimePoint began_at = loop_.clock();
    discovery_.begin(began_at);
    const std::vector<double>& found = discovery_.found();
    const double cpu_s = cpu_seconds(redis_.pid());
    const std::uint64_t before = reports();
    while (found.size() < instances_.size() && loop_.clock() < began_at + longest) {
      const double slice_s = cpu_seconds(redis_.pid());
      const TimePoint from = loop_.clock();
      run_for(kSlice);
      event.cores_max = std::max(
          event.cores_max, (cpu_seconds(redis_.pid()) - slice_s) / seconds(loop_.clock() - from));
    }
    event.seconds = seconds(loop_.clock() - began_at);
    event.cores = (cpu_seconds(redis_.pid()) - cpu_s) / event.seconds;
    event.reports_per_s = static_cast<double>(reports() - before) / event.seconds;
    event.by_all = found.size() == instances_.size();
    if (found.empty()) return event;
    event.median_s = found[found.size() / 2];
    event.last_s = found.back();
    return event;
  }

 private:
  struct Instance {
    Instance(ServedFleet& owner, const FleetLoad& load, std::uint64_t i)
        : counts(load, i, owner.keys_),
          judge(owner.judging_),
          link(owner.loop_, owner.options_of(*this, i),
               [this, &owner] { return owner.counted(*this); }) {
      link.begin();
    }
    SimulatedCounts counts;
    Judge judge;
    fleet::Link link;
  };

  fleet::LinkOptions options_of(Instance& instance, std::uint64_t i) {
    fleet::LinkOptions options;
    options.url.unix_path = redis_.socket_path();
    options.member.id = "instance-" + std::to_string(i);
    options.member.seed = kFleetSeed;
    options.member.random_seed = i;
    options.member.reader = [this, &instance](const std::string& bytes, TimePoint now) {
      return discovery_.read(instance.judge, bytes, now);
    };
    return options;
  }

  std::vector<detect::Summary> counted(Instance& instance) {
    const TimePoint now = loop_.clock();
    const auto windows = instance.counts.windows(now, discovery_.hot_for(now));
    return {windows.begin(), windows.end()};
  }

  std::uint64_t reports() const {
    std::uint64_t sum = 0;
    for (const Instance& instance : instances_) sum += instance.link.member().counts().reports;
    return sum;
  }

  const resp::testing::RedisProcess& redis_;
  net::EventLoop loop_;
  const detect::SelectorOptions judging_ = Judge::options();
  SimulatedKeys keys_;
  Discovery discovery_;
  std::deque<Instance> instances_;
};

}  // namespace

ServerCost measure_server(std::uint64_t instances, Nanos time) {
  const resp::testing::RedisProcess redis("--maxclients", "20000");
  if (!redis.running()) return {};
  FleetLoad load;
  load.instances = instances;
  ServedFleet fleet(redis, load);
  // Until the fleet has found its pace, and the first reports are two of its steps old.
  const Nanos step = fleet::step_of(instances, Millis(250));
  fleet.run_for(std::chrono::seconds(3) + 2 * step);
  // In whole steps: members that began together report together for a while.
  ServerCost cost = fleet.quiet((time / step + 1) * step);
  cost.event = fleet.event(std::chrono::seconds(10) + 2 * step);
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
