// SPDX-License-Identifier: Apache-2.0
// The scenarios: each run of tests/consistency/runs.py has its counterpart here.
#include <chrono>
#include <utility>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

using Sessions = std::vector<std::string>;
using consistency::Level;
using std::chrono::seconds;

constexpr Nanos kBound = seconds(1);  // cache.max-staleness

// Everything that clients of a proxy do.
Sessions through(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=6,depth=16,set=10,mget=20,lcs=20,think-us=1000",
          who + ",count=4,depth=4,set=20,del=5,mget=50,lcs=50,db=1,think-us=500",
          who + ",count=2,depth=1,set=50,px=20,expire=10,think-us=300",
          who + ",count=1,depth=8,eval=20,flush=1,think-us=2000",
          who + ",count=2,cas=2000,think-us=1000",
          who + ",count=2,multi=5000,think-us=1000"};
}

// Of few keys with the same names in two databases.
Sessions readers(int via) {
  const std::string who = "via=" + std::to_string(via) + ",count=4,depth=8,think-us=1000,keys=4";
  return {who + ",db=0", who + ",db=1"};
}

Sessions operator+(Sessions left, const Sessions& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const Sessions kPast = {"via=0,count=2,depth=2,set=2000,px=500,del=200,think-us=2000",
                        "via=0,count=1,depth=1,set=2000,think-us=3000,db=1"};
// So seldom that copies come back in between.
const Sessions kSeldomPast = {"via=0,set=10000,think-us=25000,keys=8"};
const Sessions kSparse = {"via=0,set=10000,keys=4,think-us=400000,db=0",
                          "via=0,set=10000,keys=4,think-us=400000,db=1"};
const Sessions kWrites = {
    "via=1,count=4,depth=4,set=300,mget=100,lcs=100,eval=20,think-us=10000,keys=8"};
const Sessions kTransactions = {"via=1,count=4,cas=10000,think-us=100000,keys=8",
                                "via=1,count=2,multi=10000,think-us=50000,keys=8"};
const Sessions kShortLives = {"via=0,px=10000,ttl=300,keys=4,think-us=400000"};
// Each key twice in two seconds, the second time while the first one's fill is torn in two.
const Sessions kPairs = {"via=0,set=10000,first=0,keys=1,think-us=2000000",
                         "via=0,set=10000,first=0,keys=1,think-us=2050000",
                         "via=0,set=10000,first=1,keys=1,think-us=2000000",
                         "via=0,set=10000,first=1,keys=1,think-us=2050000"};

// What the server says of some keys, and then copies of others.
Sessions across(int via, const std::string& more = "") {
  return {"via=" + std::to_string(via) + ",count=4,keys=8,lcs=200,mget=500,think-us=500" + more};
}

constexpr Faults kCuts{
    .stop_server = 0.5, .cut = 0.5, .cut_trackers = 0.5, .stop_max = Millis(300)};
constexpr Faults kAll{.stop_server = 0.3,
                      .stop_loop = 0.5,
                      .stop_proxy = 0.3,
                      .restart_proxy = 0.2,
                      .restart_server = 0.1,
                      .cut = 0.3,
                      .cut_trackers = 0.3,
                      .forget = 1};
constexpr Conditions kLate{.push_delay = Millis(5)};
// An answer may wait in a worker's mailbox for as long as several fills take.
constexpr Conditions kSlowThreads{.sleeps = 0.03, .sleep_max = Millis(10)};
// Few keys that change all the time, and readers that are with either worker.
const Sessions kFewKeys = {"via=1,count=12,depth=4,think-us=500,keys=3",
                           "via=0,count=2,set=10000,think-us=2000,keys=3"};

std::vector<Scenario> usual() {
  return {
      {.name = "one proxy", .sessions = through(1)},
      {.name = "one proxy, faults", .sessions = through(1), .faults = kAll},
      {.name = "writers past it", .sessions = through(1) + kPast, .bound = kBound},
      {.name = "writers past it, faults",
       .sessions = through(1) + kPast,
       .bound = kBound,
       .faults = kAll},
      {.name = "two proxies",
       .sessions = through(1) + through(2) + kPast,
       .proxies = 2,
       .bound = kBound},
      {.name = "two proxies, faults",
       .sessions = through(1) + through(2) + kPast,
       .proxies = 2,
       .bound = kBound,
       .faults = kAll,
       .options = {"upstream.on-down=error"}},
      {.name = "reads behind EXEC",
       .sessions = {"via=1,count=6,multi=7000,keys=3,think-us=1000",
                    "via=1,count=4,set=500,depth=2,keys=3,think-us=500"}},
      {.name = "slow threads",
       .sessions = through(1),
       .conditions = {.push_delay = Millis(1), .sleeps = 0.05}},
      {.name = "faults at random",
       .sessions = through(1) + through(2) + kPast + kSparse,
       .proxies = 2,
       .bound = kBound,
       .conditions = {.sleeps = 0.01},
       .faults = {.stop_server = 0.3,
                  .stop_loop = 0.3,
                  .stop_keeper = 0.3,
                  .stop_proxy = 0.3,
                  .restart_proxy = 0.1,
                  .restart_server = 0.1,
                  .cut = 0.2,
                  .cut_trackers = 0.2,
                  .forget = 1,
                  .flush = 0.3,
                  .hold = 0.3,
                  .lose = 0.3,
                  .garble = 0.2}},
  };
}

// Of clients with caches of their own, whose invalidations the proxy sends. They read, and some
// write; others write through the proxy and past it.
std::vector<Scenario> of_near_caches() {
  const auto near = [](int via) {
    const std::string who = "via=" + std::to_string(via) + ",near=1";
    return Sessions{who + ",count=6,depth=4,mget=500,set=20,think-us=500,keys=4",
                    who + ",count=3,think-us=300,keys=4",
                    who + ",count=2,depth=8,multi=300,think-us=1000,keys=4"};
  };
  const Sessions writers = {"via=1,count=2,set=300,del=50,depth=2,think-us=3000,keys=4",
                            "via=1,count=1,eval=300,flush=30,think-us=5000,keys=4",
                            "via=0,count=1,set=500,think-us=5000,keys=4"};
  // A value ends up to 50 ms early, so its time is kept unless a thread is late.
  const Sessions short_lives = {"via=1,px=300,think-us=3000,keys=4"};
  const std::vector<std::string> pays = {"proxy.client-tracking=pays"};
  // A proxy that does not run can tell its clients nothing.
  constexpr Nanos kStopped = Millis(300);
  Faults faults = kAll;
  faults.stop_max = kStopped;
  return {
      {.name = "near caches",
       .sessions = near(1) + writers + short_lives,
       .bound = kBound,
       .options = pays},
      {.name = "near caches, faults",
       .sessions = near(1) + writers,
       .bound = kBound + kStopped,
       .conditions = kSlowThreads,
       .faults = faults,
       .options = pays},
      // No other client of the key is told, so one that is not told keeps it for long.
      {.name = "near caches, each key has one",
       .sessions = {"via=1,near=1,first=0,keys=1,think-us=300",
                    "via=1,near=1,first=1,keys=1,think-us=300",
                    "via=1,near=1,first=2,keys=1,think-us=300",
                    "via=0,set=10000,keys=3,think-us=150000",
                    "via=1,set=10000,keys=3,think-us=400000"},
       .bound = kBound,
       .faults = {.cut_trackers = 1, .hold = 0.5, .hold_max = Millis(2500)},
       .options = pays,
       .length = seconds(6)},
      // What clients keep goes on when its copy is over, and the key is not hot any more.
      {.name = "near caches, copies live shortly",
       .sessions = {"via=1,near=1,count=3,keys=2,think-us=300",
                    "via=0,set=10000,keys=2,think-us=150000",
                    "via=1,set=10000,keys=2,think-us=400000"},
       .bound = kBound,
       .faults = {.cut_trackers = 1, .hold = 0.5, .hold_max = Millis(2500)},
       .options = {"proxy.client-tracking=pays", "cache.expire-after-write=150ms",
                   "cache.acl-staleness=100ms"},
       .length = seconds(6)},
      {.name = "near caches, clients move",
       .sessions = near(1) + near(2) + writers,
       .proxies = 2,
       .bound = kBound + kStopped,
       .faults = {.stop_loop = 0.3, .cut_trackers = 0.3, .move_clients = 100, .stop_max = kStopped},
       .options = pays},
  };
}

// Of what changes in a proxy while it serves.
std::vector<Scenario> of_changes() {
  return {
      {.name = "clients move", .sessions = through(1), .faults = {.move_clients = 100}},
      {.name = "clients move, faults",
       .sessions = through(1) + kPast,
       .bound = kBound,
       .faults = {.stop_loop = 0.5,
                  .restart_server = 0.1,
                  .cut = 0.3,
                  .cut_trackers = 0.3,
                  .move_clients = 100}},
      {.name = "configurations come and go",
       .sessions = through(1) + kPast,
       .bound = kBound,
       .faults = {.reconfigure = 100}},
      {.name = "configurations come and go, faults",
       .sessions = through(1) + kPast,
       .bound = kBound,
       .conditions = {.push_delay = Millis(1), .sleeps = 0.03},
       .faults = {.stop_server = 0.3,
                  .stop_loop = 0.5,
                  .stop_keeper = 0.3,
                  .cut = 0.3,
                  .cut_trackers = 0.3,
                  .forget = 1,
                  .move_clients = 20,
                  .reconfigure = 50}},
  };
}

// Of the connection that keeps the copies, and of the thread that hears it.
std::vector<Scenario> of_pushes() {
  return {
      {.name = "late pushes, one proxy",
       .sessions = readers(1) + kWrites + kTransactions,
       .conditions = kLate},
      {.name = "late pushes",
       .sessions = readers(1) + kWrites + kTransactions + kSeldomPast,
       .bound = kBound,
       .conditions = kLate},
      {.name = "lost pushes",
       .sessions = readers(1) + kSparse,
       .bound = kBound,
       .faults = {.lose = 1.5, .hold_min = Millis(200)},
       .length = seconds(4)},
      {.name = "lost pushes, copies that stay",
       .sessions = readers(1) + kSparse,
       .bound = kBound,
       .faults = {.lose = 1.5, .hold_min = Millis(200)},
       .options = {"cache.acl-staleness=10s"},  // or they stay for half a second only
       .rules = {"match=k*,limit.rate=1000000/s,limit.over=stale"},
       .length = seconds(4)},
      {.name = "a stopped proxy",
       .sessions = readers(1) + Sessions{"via=1,count=4,depth=8,pace-us=20000"} + kSparse,
       .bound = kBound,
       .conditions = {.push_delay = Millis(20)},
       .faults = {.stop_proxy = 0.3, .stop_min = Millis(1100)},
       .length = seconds(6)},
      {.name = "a stopped keeper",
       .sessions = readers(1) + kSparse,
       .bound = kBound,
       .faults = {.stop_keeper = 0.5, .stop_min = Millis(1100)},
       .length = seconds(6)},
      {.name = "torn fills",
       .sessions = readers(1) + kPairs,
       .bound = kBound,
       .conditions = {.tear = Millis(100)},
       .length = seconds(10)},
  };
}

std::vector<Scenario> of_levels() {
  return {
      {.name = "level session",
       .sessions = across(1) + through(1) + kSeldomPast,
       .bound = kBound,
       .level = Level::kSession,
       .conditions = kLate,
       .options = {"cache.level=session"}},
      {.name = "level session, slow threads",
       .sessions = kFewKeys,
       .bound = kBound,
       .level = Level::kSession,
       .conditions = kSlowThreads,
       .options = {"cache.level=session"}},
      {.name = "level session, two proxies",
       .sessions = across(1, ",set=20") + across(2, ",set=20") + kSeldomPast,
       .proxies = 2,
       .bound = kBound,
       .level = Level::kSession,
       .faults = kCuts,
       .options = {"cache.level=session"}},
      {.name = "level ttl",
       .sessions = readers(1) + kSparse + kTransactions,
       .bound = seconds(3),
       .level = Level::kTtl,
       .faults = {.lose = 1, .hold_min = Millis(200)},
       .options = {"cache.level=ttl", "cache.max-staleness=200ms", "cache.expire-after-write=3s",
                   "cache.acl-staleness=1h"},
       .length = seconds(6)},
      {.name = "barriers",
       .sessions = Sessions{"via=1,count=4,depth=2,keys=8,barrier=100,think-us=500"} + readers(1) +
                   kSeldomPast,
       .bound = kBound,
       .conditions = kLate},
      {.name = "barriers, slow threads",
       .sessions = {"via=1,count=4,think-us=1000,keys=2",
                    "via=1,count=2,barrier=10000,think-us=1000,keys=2",
                    "via=0,set=10000,think-us=5000,keys=2"},
       .bound = kBound,
       .conditions = {.sleeps = 0.02, .sleep_max = Millis(15)},
       .length = seconds(4)},
      {.name = "gathered writes",
       .sessions = readers(1) + Sessions{"via=1,count=6,depth=2,set=10000,think-us=60000,keys=4"} +
                   kSeldomPast,
       .bound = kBound,
       .conditions = kLate,
       .faults = kCuts,
       .rules = {"match=k*,coalesce=20ms"}},
      {.name = "limits",
       .sessions = through(1),
       .faults = kCuts,
       .rules = {"match=k*,limit.rate=300/s,limit.over=delay"}},
  };
}

// Copies come, and leave again for others or after a write. In most of these no key is hot.
std::vector<Scenario> of_copies_that_pay() {
  const std::string pays = "cache.admission=pays", none_hot = "detection.hot-qps=1000000";
  const std::vector<std::string> few = {pays, none_hot, "cache.maximum-size=2"};
  const std::vector<std::string> more = {pays, none_hot, "cache.maximum-size=8"};
  return {
      {.name = "copies that pay",
       .sessions = through(1) + kPast,
       .bound = kBound,
       .conditions = {.reads_of_a_copy = 2},
       .options = more},
      {.name = "copies that pay, faults",
       .sessions = through(1) + through(2) + kPast,
       .proxies = 2,
       .bound = kBound,
       .conditions = {.sleeps = 0.01, .reads_of_a_copy = 1},
       .faults = kAll,
       .options = more},
      {.name = "copies that come and go",
       .sessions = kFewKeys,
       .bound = kBound,
       .conditions = {.push_delay = Millis(1), .sleeps = 0.03, .reads_of_a_copy = 1},
       .options = few},
      {.name = "copies that come and go, level session",
       .sessions = kFewKeys,
       .bound = kBound,
       .level = Level::kSession,
       .conditions = {.sleeps = 0.03, .sleep_max = Millis(10), .reads_of_a_copy = 1},
       .options = {pays, none_hot, "cache.maximum-size=2", "cache.level=session"}},
      {.name = "hot keys that pay",
       .sessions = readers(1) + kSeldomPast,
       .bound = kBound,
       .conditions = kLate,
       .faults = kCuts,
       .options = {pays}},
      // What their copies cost moves with the pipelines, and so does what is held.
      {.name = "hot keys that pay at times",
       .sessions = through(1) + kPast,
       .bound = kBound,
       .faults = kAll,
       .options = {pays}},
      {.name = "copies that pay, chosen",
       .sessions = readers(1) + kSeldomPast,
       .bound = kBound,
       .conditions = kLate,
       .options = more},
  };
}

// The database that clients use becomes another one, of which the server tells no tracking client.
std::vector<Scenario> of_databases_that_change_places() {
  const ServerOptions many{.flavor = {.databases = 1'000'000}};
  const Sessions through_it = {"via=1,count=3,swap=1000,set=1000,depth=2,keys=4,think-us=3000",
                               "via=1,swap=1000,set=1000,keys=4,db=1,think-us=10000"};
  // So seldom that a copy which stays is read beyond the bound.
  const Sessions past_it = {"via=0,swap=10000,keys=4,think-us=700000",
                            "via=0,set=10000,keys=4,think-us=500000"};
  return {
      {.name = "databases change places",
       .sessions = readers(1) + through_it,
       .conditions = kLate,
       .servers = many},
      {.name = "databases change places, slow threads",
       .sessions = readers(1) + through_it,
       .conditions = kSlowThreads,
       .servers = many,
       .faults = kCuts},
      {.name = "databases change places past the proxy",
       .sessions = readers(1) + past_it,
       .bound = kBound,
       .servers = many,
       .length = seconds(6)},
      // The last question before a stop may be older than the last proof.
      {.name = "databases change places past the proxy, the server stops",
       .sessions = readers(1) + past_it,
       .bound = kBound,
       .servers = many,
       .faults = {.stop_server = 0.7, .stop_min = Millis(1200), .stop_max = Millis(1600)},
       .length = seconds(8)},
      {.name = "databases change places past the proxy, faults",
       .sessions = readers(1) + readers(2) + through_it + past_it,
       .proxies = 2,
       .bound = kBound,
       .servers = many,
       .faults = kAll,
       .length = seconds(6)},
  };
}

// Of the server, and of what it holds.
std::vector<Scenario> of_servers() {
  const Sessions late = {"via=0,set=10000,keys=4,think-us=2200000"};
  return {
      {.name = "short lives",
       .sessions = readers(1) + kShortLives,
       .bound = kBound,
       .servers = {.expires_actively = false}},
      {.name = "short lives, late fills",
       .sessions = readers(1) + Sessions{"via=1,px=2000,ttl=200,keys=4,count=2,think-us=50000"},
       .servers = {.expires_actively = false},
       .faults = {.hold = 3, .hold_max = Millis(500)}},
      {.name = "moved keys",
       .sessions = Sessions{"via=1,count=4,think-us=1000,keys=4"} + late,
       .bound = kBound,
       .servers = {.loses_keys = ModelServer::Cluster::kMoved},
       .length = seconds(5)},
      {.name = "a node that has lost its cluster",
       .sessions = Sessions{"via=1,count=4,think-us=1000,keys=4"} + late,
       .bound = kBound,
       .servers = {.loses_keys = ModelServer::Cluster::kDown},
       .length = seconds(5)},
      {.name = "answers to what was not asked",
       .sessions = Sessions{"via=1,count=6,depth=64,set=2000,lcs=2000,think-us=1000"},
       .conditions = {.window_bytes = 400},
       .faults = {.answer_twice = 20}},
  };
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> out;
    for (const auto& part : {usual(), of_changes(), of_near_caches(), of_pushes(), of_levels(),
                             of_copies_that_pay(), of_databases_that_change_places(), of_servers()})
      out.insert(out.end(), part.begin(), part.end());
    for (const auto& part :
         {library_scenarios(), server_scenarios(), cluster_scenarios(), spread_scenarios()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

}  // namespace heatsink::simulation
