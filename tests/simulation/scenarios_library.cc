// SPDX-License-Identifier: Apache-2.0
// The scenarios with processes that use the client library.
#include <chrono>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

constexpr Nanos kStalenessMax = std::chrono::seconds(1);  // cache.max-staleness

std::vector<std::string> callers(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=6,depth=2,set=200,think-us=1000",
          who + ",count=2,set=500,px=500,ttl=30,del=200,think-us=1000"};
}

std::vector<std::string> callers_that_read(int via) {
  return {"via=" + std::to_string(via) + ",count=4,depth=2,think-us=1000,keys=4"};
}

std::vector<std::string> through_proxy(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=4,depth=8,set=20,mget=20,lcs=20,think-us=1000",
          who + ",count=2,set=50,px=20,del=10,expire=10,think-us=500"};
}

// Each key twice, the second time while the load after the first is still under way.
const std::vector<std::string> kLibraryPairs = {
    "via=0,set=10000,first=0,keys=1,think-us=200000",
    "via=0,set=10000,first=0,keys=1,think-us=205000",
    "via=0,set=10000,first=1,keys=1,think-us=300000",
    "via=0,set=5000,px=5000,ttl=80,first=2,keys=2,think-us=150000"};
// Seldom enough that copies come back in between, which few writes and no refresh then end.
const std::vector<std::string> kSeldom = {"via=0,set=9000,del=1000,keys=4,think-us=60000",
                                          "via=0,set=10000,keys=4,think-us=250000",
                                          "via=0,flush=10000,keys=4,think-us=900000"};
// A short life just behind a long one, whose fill is then under way.
const std::vector<std::string> kTwice = {"via=0,set=10000,first=0,keys=1,think-us=70000",
                                         "via=0,px=10000,ttl=20,first=0,keys=1,think-us=70500",
                                         "via=0,set=10000,first=1,keys=1,think-us=90000",
                                         "via=0,px=10000,ttl=20,first=1,keys=1,think-us=90500",
                                         "via=0,px=10000,ttl=20,first=2,keys=2,think-us=30000"};
const std::vector<std::string> kLibraryPast = {
    "via=0,count=2,depth=2,set=2000,px=500,del=200,think-us=2000",
    "via=0,set=5000,px=3000,ttl=50,keys=8,think-us=25000"};

std::vector<std::string> join(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Else a copy is loaded again before it can be seen to be old.
const std::vector<std::string> kTight = {"refresh.interval=10s", "refresh.early=0",
                                         "cache.max-staleness=200ms",
                                         "cache.heartbeat-interval=50ms"};
constexpr Nanos kTightBound = Millis(200);
// Each key's rate is about the threshold, so that it becomes hot and cold all the time.
const std::vector<std::string> kRestless = {
    "detection.window=100ms",        "detection.tick=10ms",
    "detection.hot-qps=150",         "detection.minimum-residence=10ms",
    "detection.demotion-interval=0", "detection.demote-ratio=1"};

// No key is hot. The third read earns a copy, but two keys at a time have room.
const std::vector<std::string> kEarned = {"detection.hot-qps=1000000", "cache.maximum-size=2"};

constexpr Faults kLibraryFaults{.stop_server = 0.3,
                                .restart_server = 0.1,
                                .cut = 0.3,
                                .cut_trackers = 0.3,
                                .forget = 1,
                                .stop_thread = 2,
                                .stop_link = 0.3,
                                .stop_library = 0.2,
                                .restart_library = 0.2};

std::vector<Scenario> of_loads() {
  return {
      {.name = "library", .sessions = callers(1), .proxies = 0, .library = {.count = 1}},
      {.name = "library, own loader",
       .sessions = callers(1),
       .proxies = 0,
       .library = {.count = 1, .has_own_loader = true}},
      {.name = "library, faults",
       .sessions = callers(1),
       .proxies = 0,
       .faults = kLibraryFaults,
       .library = {.count = 1}},
      {.name = "library, writers past it, faults",
       .sessions = join({callers(1), kLibraryPast}),
       .proxies = 0,
       .bound = kStalenessMax,
       .faults = kLibraryFaults,
       .library = {.count = 1, .has_own_loader = true}},
      {.name = "library, databases change places past it, the server stops",
       .sessions = join(
           {callers_that_read(1),
            {"via=0,swap=10000,keys=4,think-us=700000", "via=0,set=10000,keys=4,think-us=500000"}}),
       .proxies = 0,
       .bound = kStalenessMax,
       .servers = {.flavor = {.databases = 1'000'000}},
       .faults = {.stop_server = 0.7, .stop_min = Millis(1200), .stop_max = Millis(1600)},
       .library = {.count = 1},
       .length = std::chrono::seconds(8)},
      {.name = "library, late loads",
       .sessions = join({callers_that_read(1), kLibraryPairs}),
       .proxies = 0,
       .bound = kStalenessMax,
       .faults = {.stop_thread = 2},
       .library = {.count = 1, .has_own_loader = true, .dawdle_max = Millis(30)}},
  };
}

std::vector<Scenario> of_links() {
  return {
      {.name = "library, lost pushes",
       .sessions = join({callers_that_read(1), kSeldom}),
       .proxies = 0,
       .bound = kTightBound,
       .faults = {.cut_trackers = 2, .forget = 1},
       .library =
           {.count = 1, .options = kTight, .has_own_loader = true, .dawdle_max = Millis(30)}},
      {.name = "library, late pushes",
       .sessions = join({callers(1), kLibraryPast}),
       .proxies = 0,
       .bound = kStalenessMax,
       .faults = {.stop_thread = 2},
       .library = {.count = 1, .has_own_loader = true, .dawdle_max = Millis(2)},
       .network = {.slow_segment = 0.1, .split = 0.3}},
      {.name = "library, torn fills",
       .sessions = join({callers_that_read(1), kTwice}),
       .proxies = 0,
       .bound = kStalenessMax,
       .library = {.count = 1, .options = {"refresh.interval=10s"}, .has_own_loader = true},
       .network = {.latency_max = Millis(4), .split = 0.7}},
      {.name = "library, keys that cool down",
       .sessions = join({{"via=1,count=6,depth=30,keys=2,set=100,think-us=150000"}, kLibraryPast}),
       .proxies = 0,
       .bound = kStalenessMax,
       .library =
           {.count = 1, .options = kRestless, .has_own_loader = true, .dawdle_max = Millis(15)},
       .network = {.slow_segment = 0.2, .slow_max = Millis(40)}},
      {.name = "library, a stopped link",
       .sessions = join({callers_that_read(1), kSeldom}),
       .proxies = 0,
       .bound = kTightBound,
       .faults = {.stop_link = 1, .stop_min = Millis(500)},
       .library = {.count = 1, .options = kTight, .has_own_loader = true}},
  };
}

std::vector<Scenario> of_earned_copies() {
  return {
      {.name = "library, earned copies",
       .sessions = join({callers(1), kLibraryPast}),
       .proxies = 0,
       .bound = kStalenessMax,
       .library =
           {.count = 1, .options = kEarned, .has_own_loader = true, .dawdle_max = Millis(15)},
       .network = {.slow_segment = 0.2, .slow_max = Millis(40)}},
      {.name = "library, earned copies, faults",
       .sessions = join({callers(1), kLibraryPast}),
       .proxies = 0,
       .bound = kStalenessMax,
       .faults = kLibraryFaults,
       .library = {.count = 1, .options = kEarned}},
  };
}

std::vector<Scenario> beside_proxies() {
  Faults all = kLibraryFaults;
  all.stop_loop = 0.5;
  all.stop_proxy = 0.3;
  all.restart_proxy = 0.2;
  return {
      {.name = "library beside two proxies, faults",
       .sessions = join({callers(3), callers(4), through_proxy(1), through_proxy(2), kLibraryPast}),
       .proxies = 2,
       .bound = kStalenessMax,
       .faults = all,
       .library = {.count = 2}},
  };
}

constexpr Faults kSeparations{
    .separate = 5, .stop_min = std::chrono::seconds(13), .stop_max = std::chrono::seconds(15)};
constexpr ModelNodeOptions kLong{.node_timeout = std::chrono::seconds(8),
                                 .election_pause = Millis(1)};

// The writers past the process use proxies without copies, as clients of the cluster. With
// `has_own_loader`, the process loads and writes through the first of them.
Scenario in_a_cluster(const char* name, const Faults& faults, Nanos length,
                      const ModelNodeOptions& nodes = {}) {
  return {.name = name,
          .sessions = join({callers(2),
                            {"via=1,count=2,set=2000,px=200,del=1500,ttl=500,think-us=15000",
                             "via=1,count=2,set=3000,del=3000,think-us=150000"}}),
          .proxies = 1,
          .plain_proxies = 1,
          .bound = kStalenessMax,
          .cluster = {.masters = 3, .nodes = nodes},
          .faults = faults,
          .library = {.count = 1},
          .length = length};
}

Scenario with_own_loader(Scenario scenario) {
  scenario.library.has_own_loader = true;
  return scenario;
}

// Only the end of a copy makes room for another value, not its refresh.
Scenario without_refresh(Scenario scenario) {
  scenario.library.options = {"refresh.interval=10s", "refresh.early=0"};
  scenario.sessions =
      join({callers_that_read(2), {"via=1,count=2,set=3000,del=3000,keys=4,think-us=150000"}});
  return scenario;
}

// Two masters answer reads for seconds. Only the voters tell the process that one of them has been
// replaced.
Scenario two_masters_at_once() {
  using std::chrono::seconds;
  Scenario scenario =
      in_a_cluster("library in a cluster, two masters at once", kSeparations, seconds(50), kLong);
  scenario.sessions = {"via=2,count=10,think-us=20000",
                       "via=1,count=2,set=2000,del=1500,think-us=15000"};
  scenario.bound = Millis(300);
  scenario.cluster.separation = SimulatedClusterOptions::Separation::kMasterWithProxies;
  scenario.library.options = {"cache.max-staleness=300ms",     "cache.heartbeat-interval=100ms",
                              "refresh.interval=10s",          "refresh.early=0",
                              "server.response-timeout=200ms", "server.connect-timeout=200ms"};
  return scenario;
}

// Two masters answer reads for seconds. The process knows which of them has been replaced; the
// application's client does not know it. Clients write few of the many keys while the old master is
// cut off, because it answers no read of a key that it has been asked to write. They soon give up a
// write that it does not answer, and write to the new master.
Scenario late_loader() {
  using std::chrono::seconds;
  Scenario scenario = with_own_loader(without_refresh(
      in_a_cluster("library in a cluster, late loader", kSeparations, seconds(50), kLong)));
  scenario.proxies = scenario.plain_proxies = 2;
  scenario.library.is_loader_late = true;
  scenario.cluster.separation = SimulatedClusterOptions::Separation::kMasterFromNodes;
  scenario.sessions = {"via=3,count=4,keys=40,think-us=10000",
                       "via=2,count=6,set=2000,del=500,keys=40,think-us=300000"};
  scenario.options = {"upstream.response-timeout=200ms", "upstream.connect-timeout=200ms"};
  return scenario;
}

Scenario with_late_answers(Scenario scenario) {
  scenario.library.dawdle_max = Millis(30);
  scenario.network = {.slow_segment = 0.2, .slow_max = Millis(40)};
  return scenario;
}

std::vector<Scenario> of_clusters() {
  using std::chrono::seconds;
  Faults all = kLibraryFaults;
  all.stop_server = all.restart_server = 0;
  all.move_slot = 0.5;
  all.steal_slot = 0.3;
  all.move_atomically = 0.3;
  all.fail_over_by_hand = 0.3;
  all.kill_node = 0.3;
  all.stop_master = 0.3;
  all.stop_until_replaced = 0.2;
  all.separate = 0.3;
  all.stop_node_shortly = 0.3;
  all.stop_max = seconds(4);
  const ModelNodeOptions quick = {.node_timeout = seconds(2), .election_pause = Millis(1)};
  const Faults elections = {
      .stop_master = 0.5, .separate = 1, .stop_min = seconds(2), .stop_max = seconds(6)};
  const Faults thefts = {.steal_slot = 3};
  return {
      in_a_cluster("library in a cluster", {}, seconds(2)),
      with_own_loader(in_a_cluster("library in a cluster, own loader", {}, seconds(2))),
      in_a_cluster("library in a cluster, slots move", {.move_slot = 3}, seconds(6)),
      without_refresh(in_a_cluster("library in a cluster, slots are stolen", thefts, seconds(6))),
      with_late_answers(with_own_loader(without_refresh(in_a_cluster(
          "library in a cluster, slots are stolen, late answers", thefts, seconds(8))))),
      in_a_cluster("library in a cluster, slots move atomically", {.move_atomically = 3},
                   seconds(8)),
      in_a_cluster("library in a cluster, fail-over by hand", {.fail_over_by_hand = 3}, seconds(6)),
      in_a_cluster("library in a cluster, quick elections", elections, seconds(12), quick),
      with_own_loader(in_a_cluster("library in a cluster, quick elections, own loader", elections,
                                   seconds(12), quick)),
      two_masters_at_once(),
      late_loader(),
      in_a_cluster("library in a cluster, faults", all, seconds(10)),
      with_own_loader(in_a_cluster("library in a cluster, own loader, faults", all, seconds(10))),
  };
}

}  // namespace

std::vector<Scenario> library_scenarios() {
  std::vector<Scenario> out;
  for (const auto& part :
       {of_loads(), of_links(), of_earned_copies(), beside_proxies(), of_clusters()})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace heatsink::simulation
