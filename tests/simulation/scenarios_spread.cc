// SPDX-License-Identifier: Apache-2.0
// The scenarios of keys with copies on the nodes of a cluster (spread.copies), and of counters in
// parts (spread.parts). Two proxies have the rule.
//
// Of copies, the bound of docs/guides/spread.md is promised, which is that of level ttl; and where
// no node fails, that no read is older than an acknowledged write. Of counters, that a sum has all
// that was added before, once, as long as no node loses what it has acknowledged.
#include <chrono>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;

constexpr Nanos kTtl = Millis(500);  // of the rule
constexpr SimulatedClusterOptions kSpreadCluster{.masters = 3, .acts_on_all_keys = true};
constexpr Faults kProxyFaults{.stop_loop = 1, .stop_proxy = 0.5, .restart_proxy = 0.2, .cut = 0.5};

Scenario copies(const char* name, const Faults& faults, Nanos length,
                bool shows_acknowledged = false) {
  return {.name = name,
          .sessions = {"via=1,count=6,keys=3,think-us=1000", "via=2,count=6,keys=3,think-us=1000",
                       "via=1,keys=3,set=3000,del=300,think-us=20000",
                       "via=2,keys=3,set=3000,think-us=20000"},
          .proxies = 2,
          .bound = kTtl,
          .level = consistency::Level::kTtl,
          .cluster = kSpreadCluster,
          .faults = faults,
          .shows_acknowledged = shows_acknowledged,
          .rules = {"match=k*,level=off,spread.copies=6,spread.ttl=500ms"},
          .length = length};
}

// A fill may come later than the tombstone of the write that it has not seen. But no read of a copy
// takes 100 ms: then its node would be suspected, and the next writes would not wait for it.
Scenario on_a_slow_network(Scenario scenario) {
  scenario.network = {.slow_segment = 0.03, .slow_max = Millis(15)};
  return scenario;
}

Scenario counters(const char* name, const Faults& faults, Nanos length) {
  return {.name = name,
          .sessions = {"via=1,count=4,depth=4,keys=3,add=7000,sum=3000,think-us=2000",
                       "via=2,count=4,depth=2,keys=3,add=5000,sum=5000,think-us=2000"},
          .proxies = 2,
          .bound = kTtl,
          .level = consistency::Level::kTtl,
          .cluster = kSpreadCluster,
          .faults = faults,
          .rules = {"match=k*,level=off,spread.parts=6"},
          .length = length};
}

}  // namespace

std::vector<Scenario> spread_scenarios() {
  Faults moves_and_proxies = kProxyFaults;
  moves_and_proxies.move_slot = 3;
  return {
      copies("spread copies", {}, seconds(3), true),
      copies("spread copies, slots move", {.move_slot = 3}, seconds(6), true),
      on_a_slow_network(copies("spread copies, late fills", {}, seconds(5), true)),
      copies("spread copies, proxies stop and lose connections", kProxyFaults, seconds(5)),
      copies("spread copies, fail-over by hand", {.fail_over_by_hand = 3}, seconds(6)),
      copies("spread copies, slots are stolen", {.steal_slot = 3}, seconds(6)),
      copies("spread copies, nodes are killed",
             {.kill_node = 2, .stop_min = Millis(100), .stop_max = seconds(4)}, seconds(8)),
      counters("counters in parts", {}, seconds(3)),
      counters("counters in parts, slots move", {.move_slot = 3}, seconds(6)),
      counters("counters in parts, slots move, proxies stop and lose connections",
               moves_and_proxies, seconds(6)),
  };
}

}  // namespace heatsink::simulation
