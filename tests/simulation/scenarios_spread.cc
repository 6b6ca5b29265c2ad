// SPDX-License-Identifier: Apache-2.0
// The scenarios of keys with copies on the nodes of a cluster (spread.copies). Two proxies have the
// rule. What is promised is the bound of docs/guides/spread.md, which is that of level ttl; and
// where no node fails, that no read is older than an acknowledged write.
#include <chrono>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;

constexpr Nanos kTtl = Millis(500);  // of the rule
const std::vector<std::string> kRules = {"match=k*,level=off,spread.copies=6,spread.ttl=500ms"};
const std::vector<std::string> kSessions = {
    "via=1,count=6,keys=3,think-us=1000", "via=2,count=6,keys=3,think-us=1000",
    "via=1,keys=3,set=3000,del=300,think-us=20000", "via=2,keys=3,set=3000,think-us=20000"};

Scenario spread(const char* name, Nanos bound, const Faults& faults, Nanos length,
                bool shows_acknowledged = false) {
  return {.name = name,
          .sessions = kSessions,
          .proxies = 2,
          .bound = bound,
          .level = consistency::Level::kTtl,
          .cluster = {.masters = 3},
          .faults = faults,
          .shows_acknowledged = shows_acknowledged,
          .rules = kRules,
          .length = length};
}

}  // namespace

std::vector<Scenario> spread_scenarios() {
  return {
      spread("spread copies", kTtl, {}, seconds(3), true),
      spread("spread copies, slots move", kTtl, {.move_slot = 3}, seconds(6), true),
      spread("spread copies, proxies stop and lose connections", kTtl,
             {.stop_loop = 1, .stop_proxy = 0.5, .restart_proxy = 0.2, .cut = 0.5}, seconds(5)),
      spread("spread copies, fail-over by hand", kTtl, {.fail_over_by_hand = 3}, seconds(6)),
      spread("spread copies, nodes are killed", kTtl,
             {.kill_node = 2, .stop_min = Millis(100), .stop_max = seconds(4)}, seconds(8)),
  };
}

}  // namespace heatsink::simulation
