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

}  // namespace

std::vector<Scenario> library_scenarios() {
  std::vector<Scenario> out;
  for (const auto& part : {of_loads(), of_links(), of_earned_copies(), beside_proxies()})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace heatsink::simulation
