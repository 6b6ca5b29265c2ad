// SPDX-License-Identifier: Apache-2.0
// The scenarios of a cluster: slots that move, masters that change, networks that come apart.
#include <chrono>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;
using Texts = std::vector<std::string>;

constexpr Nanos kClusterBound = seconds(1);  // cache.max-staleness

Texts all_of(const std::vector<Texts>& lists) {
  Texts all;
  for (const Texts& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Texts cluster_readers(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=4,depth=4,mget=200,think-us=2000",
          who + ",count=2,depth=1,set=200,del=100,lcs=200,think-us=3000"};
}

// Everything that clients of a proxy do in a cluster.
Texts cluster_through(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=4,depth=4,mget=200,lcs=20,think-us=2000",
          who + ",count=2,depth=2,set=200,px=100,del=100,expire=20,lcs=200,mget=200,think-us=3000",
          who + ",cas=2000,think-us=4000", who + ",multi=2000,think-us=4000",
          who + ",barrier=200,think-us=3000"};
}

// Order across keys is promised to a client that waits for each reply: commands that are under way
// to two nodes are executed in any order.
Texts cluster_one_by_one(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=6,lcs=300,think-us=700",
          who + ",count=2,set=200,px=100,del=100,expire=20,lcs=200,think-us=1500",
          who + ",cas=2000,think-us=4000"};
}

Texts cluster_barriers(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=4,think-us=2000", who + ",count=2,barrier=2000,think-us=2000"};
}

// Through a proxy without copies, which is to the others as a client of the cluster.
Texts cluster_past(int via) {
  return {"via=" + std::to_string(via) +
          ",count=2,set=2000,px=200,del=1500,ttl=500,think-us=15000"};
}
Texts cluster_seldom(int via) {
  return {"via=" + std::to_string(via) + ",count=2,set=3000,del=3000,think-us=150000"};
}

constexpr SimulatedClusterOptions kCluster{.masters = 3};

std::vector<Scenario> of_slots() {
  return {
      {.name = "cluster",
       .sessions = all_of({cluster_through(1), cluster_past(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster},
      {.name = "cluster, slots move",
       .sessions = all_of({cluster_through(1), cluster_past(2), cluster_seldom(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.move_slot = 3},
       .length = seconds(6)},
      // Longer than a copy may live without a proof.
      {.name = "cluster, slots move slowly",
       .sessions = all_of({cluster_barriers(1), cluster_seldom(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = {.masters = 3, .migrating_min = seconds(1), .migrating_max = seconds(4)},
       .faults = {.move_slot = 5},
       .length = seconds(10)},
      {.name = "cluster, slots are stolen",
       .sessions = all_of({cluster_readers(1), cluster_seldom(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.steal_slot = 3},
       .length = seconds(6)},
      {.name = "cluster, slots move atomically",
       .sessions = all_of({cluster_readers(1), cluster_seldom(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.move_atomically = 3},
       .length = seconds(8)},
  };
}

std::vector<Scenario> of_masters() {
  return {
      {.name = "cluster, fail-over by hand",
       .sessions = all_of({cluster_through(1), cluster_past(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.fail_over_by_hand = 3},
       .length = seconds(6)},
      {.name = "cluster, nodes are killed",
       .sessions = all_of({cluster_through(1), cluster_past(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.kill_node = 2, .stop_min = Millis(100), .stop_max = seconds(4)},
       .length = seconds(8)},
      {.name = "cluster, masters stop and go on",
       .sessions = all_of({cluster_readers(1), cluster_past(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.stop_master = 2, .stop_min = Millis(200), .stop_max = seconds(5)},
       .length = seconds(10)},
      {.name = "cluster, the network comes apart",
       .sessions = all_of({cluster_readers(1), cluster_past(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.separate = 2, .stop_min = Millis(200), .stop_max = seconds(5)},
       .length = seconds(10)},
      {.name = "cluster, the network comes apart, reads when down",
       .sessions = all_of({cluster_readers(1), cluster_past(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = {.masters = 3, .nodes = {.allows_reads_when_down = true}},
       .faults = {.separate = 2, .stop_min = Millis(200), .stop_max = seconds(5)},
       .length = seconds(10)},
  };
}

std::vector<Scenario> of_elections() {
  return {
      // As in Valkey 9: the new master may be there before the old one refuses.
      {.name = "cluster, quick elections",
       .sessions = all_of({cluster_one_by_one(1), cluster_past(2), cluster_seldom(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .level = consistency::Level::kSession,
       .cluster = {.masters = 3,
                   .nodes = {.node_timeout = seconds(2), .election_pause = Millis(1)}},
       .faults =
           {.stop_master = 0.5, .separate = 1, .stop_min = seconds(2), .stop_max = seconds(6)},
       .options = {"cache.level=session"},
       .length = seconds(12)},
      // Two masters may answer reads for seconds: the old one answers none after the first key
      // whose
      // TTL has ended, because its replica cannot have that. A client that asks a node which it
      // cannot reach waits in vain; so there are many, and they soon give up.
      {.name = "cluster, a long time-out",
       .sessions = {"via=1,count=20,think-us=20000",
                    "via=2,count=2,set=2000,del=1500,think-us=15000"},
       .proxies = 2,
       .plain_proxies = 1,
       .bound = Millis(300),
       .cluster = {.masters = 3,
                   .separation = SimulatedClusterOptions::Separation::kMasterWithProxies,
                   .nodes = {.node_timeout = seconds(8), .election_pause = Millis(1)}},
       .faults = {.separate = 5, .stop_min = seconds(13), .stop_max = seconds(15)},
       .options = {"cache.max-staleness=300ms", "upstream.response-timeout=200ms",
                   "upstream.connect-timeout=200ms"},
       .length = seconds(50)},
      // A master goes on when the new one has just been elected, and answers the proofs that lie in
      // its buffers. Its copies are still there, because the bound is longer than its stop.
      {.name = "cluster, masters go on just after their election, many writes",
       .sessions = {"via=1,count=12,lcs=2000,think-us=1000",
                    "via=2,count=4,set=9000,think-us=2000"},
       .proxies = 2,
       .plain_proxies = 1,
       .bound = seconds(3),
       .level = consistency::Level::kSession,
       .cluster = {.masters = 3,
                   .nodes = {.node_timeout = Millis(700), .election_pause = Millis(1)}},
       .faults = {.stop_until_replaced = 5},
       .options = {"cache.level=session", "cache.max-staleness=3s"},
       .length = seconds(12)},
      // It goes on when the new master has just been elected.
      {.name = "cluster, masters go on just after their election",
       .sessions = all_of({cluster_one_by_one(1), cluster_past(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .level = consistency::Level::kSession,
       .cluster = {.masters = 3,
                   .nodes = {.node_timeout = Millis(700), .election_pause = Millis(1)}},
       .faults = {.stop_until_replaced = 5},
       .options = {"cache.level=session"},
       .length = seconds(12)},
  };
}

// Clients with caches of their own, whose invalidations the proxy sends.
std::vector<Scenario> of_near_caches_in_a_cluster() {
  const Texts near = {"via=1,near=1,count=4,depth=4,mget=300,set=20,think-us=700,keys=4",
                      "via=1,near=1,count=2,think-us=500,keys=4",
                      "via=1,near=1,count=2,depth=4,multi=1000,think-us=1000,keys=4"};
  const Texts writers = {"via=1,count=2,set=300,del=100,think-us=4000,keys=4",
                         "via=2,count=2,set=2000,del=1500,think-us=15000,keys=4"};
  // They ask for nothing that they keep, and write nothing: no request finds a slot that has moved.
  const Texts calm = {"via=1,near=1,count=3,keys=4,think-us=300"};
  const std::vector<std::string> pays = {"proxy.client-tracking=pays"};
  const std::vector<std::string> pays_shortly = {
      "proxy.client-tracking=pays", "cache.expire-after-write=150ms", "cache.acl-staleness=100ms"};
  const Texts seldom = {"via=2,set=4000,del=4000,keys=4,think-us=600000"};
  return {
      {.name = "cluster, near caches, slots move",
       .sessions = all_of({near, writers}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.move_slot = 3, .steal_slot = 1, .move_atomically = 1},
       .options = pays,
       .length = seconds(6)},
      // What clients keep goes on when its copy is over, and when no copy needs its slot.
      {.name = "cluster, near caches, copies live shortly",
       .sessions = all_of({calm, seldom}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = {.masters = 3, .migrating_min = seconds(2), .migrating_max = seconds(4)},
       .faults = {.move_slot = 0.4, .steal_slot = 0.1},
       .options = pays_shortly,
       .length = seconds(20)},
      {.name = "cluster, near caches, masters change",
       .sessions = all_of({near, writers}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = {.cut_trackers = 0.5,
                  .fail_over_by_hand = 1,
                  .kill_node = 0.5,
                  .stop_master = 1,
                  .separate = 0.5,
                  .stop_node_shortly = 0.5,
                  .stop_min = Millis(200),
                  .stop_max = seconds(4)},
       .options = pays,
       .length = seconds(10)},
  };
}

constexpr Faults kClusterFaults{.stop_loop = 0.2,
                                .stop_keeper = 0.2,
                                .stop_proxy = 0.1,
                                .restart_proxy = 0.05,
                                .cut = 0.1,
                                .cut_trackers = 0.3,
                                .forget = 1,
                                .hold = 0.2,
                                .lose = 0.2,
                                .move_slot = 0.5,
                                .steal_slot = 0.3,
                                .move_atomically = 0.3,
                                .fail_over_by_hand = 0.3,
                                .kill_node = 0.3,
                                .stop_master = 0.3,
                                .stop_until_replaced = 0.2,
                                .separate = 0.3,
                                .stop_node_shortly = 0.3,
                                .stop_max = seconds(4)};

std::vector<Scenario> of_everything() {
  return {
      {.name = "cluster, faults at random",
       .sessions =
           all_of({cluster_through(1), cluster_through(2), cluster_past(3), cluster_seldom(3)}),
       .proxies = 3,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .cluster = kCluster,
       .faults = kClusterFaults,
       .length = seconds(10)},
      {.name = "cluster, level session",
       .sessions = all_of({cluster_one_by_one(1), cluster_past(2), cluster_seldom(2)}),
       .proxies = 2,
       .plain_proxies = 1,
       .bound = kClusterBound,
       .level = consistency::Level::kSession,
       .cluster = kCluster,
       .faults = kClusterFaults,
       .options = {"cache.level=session"},
       .length = seconds(8)},
  };
}

}  // namespace

std::vector<Scenario> cluster_scenarios() {
  std::vector<Scenario> out;
  for (const auto& part :
       {of_slots(), of_masters(), of_elections(), of_near_caches_in_a_cluster(), of_everything()})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace heatsink::simulation
