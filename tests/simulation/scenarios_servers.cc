// SPDX-License-Identifier: Apache-2.0
// The scenarios about the server: others that take its place, its clock, and its other readers.
#include <chrono>

#include "tests/simulation/scenario.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;

constexpr Nanos kServerBound = seconds(1);  // cache.max-staleness

std::vector<std::string> joined(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Lives of some milliseconds to some seconds, by duration and by moment, and two copies of each
// key.
std::vector<std::string> mortals(int via) {
  const std::string who = "via=" + std::to_string(via) + ",keys=6";
  return {who + ",count=4,depth=4,range=4000,mget=200,think-us=1000",
          who + ",count=2,set=100,px=200,ttl=300,pxat=200,range=2000,lcs=100,think-us=1000",
          who + ",count=2,px=50,ttl=3000,pxat=50,expireat=50,expire=20,range=2000,think-us=2000"};
}
const std::vector<std::string> kMortalsPast = {
    "via=0,px=4000,pxat=4000,ttl=700,set=1000,keys=6,think-us=20000"};

std::vector<std::string> readers_and_writers(int via) {
  const std::string who = "via=" + std::to_string(via);
  return {who + ",count=4,depth=4,think-us=1000",
          who + ",count=3,set=500,px=100,expire=50,del=50,lcs=200,mget=200,think-us=2000",
          who + ",cas=3000,think-us=2000", who + ",multi=3000,think-us=2000"};
}
const std::vector<std::string> kWritersPast = {
    "via=0,set=4000,px=500,del=200,ttl=400,think-us=10000"};
const std::vector<std::string> kFlusher = {"via=0,flush=10000,think-us=900000"};

// So seldom written that a copy lives to its own end; and no other read finds the key gone.
const std::vector<std::string> kSeldomWritten = {
    "via=1,px=10000,ttl=4000,first=100,keys=3,think-us=700000",
    "via=1,count=2,first=100,keys=3,think-us=2000"};

const std::vector<std::string> kShortCopies = {"cache.expire-after-write=1s"};

std::vector<Scenario> of_clocks() {
  return {
      {.name = "a jumping server clock",
       .sessions = joined({mortals(1), kSeldomWritten}),
       .servers = {.expires_actively = false},
       .faults = {.jump_clock = 2},
       .options = {"cache.expire-after-write=1s", "refresh.enabled=no"},
       .length = seconds(4)},
      {.name = "clocks jump",
       .sessions = joined({mortals(1), mortals(2), kMortalsPast}),
       .proxies = 2,
       .bound = kServerBound,
       .servers = {.drift = 0.002},
       .faults =
           {.stop_proxy = 0.2, .suspend_server = 0.3, .jump_clock = 1, .jump_client_clock = 1},
       .options = kShortCopies,
       .length = seconds(4)},
      {.name = "clocks jump by an hour",
       .sessions = joined({mortals(1), kMortalsPast}),
       .bound = kServerBound,
       .faults = {.jump_clock = 1.5, .jump_client_clock = 1.5, .jump_max = seconds(3600)},
       .options = kShortCopies},
  };
}

Scenario of_clocks_of_the_library() {
  return {.name = "library, clocks jump",
          .sessions = {"via=1,count=6,depth=2,set=200,px=300,ttl=400,think-us=1000",
                       "via=0,px=3000,pxat=3000,expireat=500,ttl=700,think-us=15000"},
          .proxies = 0,
          .bound = kServerBound,
          .faults = {.suspend_server = 0.2, .jump_clock = 2, .jump_client_clock = 1},
          .options = kShortCopies,
          .library = {.count = 1, .options = kShortCopies, .has_own_loader = true}};
}

std::vector<Scenario> of_losses() {
  return {
      {.name = "fail-over",
       .sessions = joined({readers_and_writers(1), readers_and_writers(2), kWritersPast}),
       .proxies = 2,
       .bound = kServerBound,
       .servers = {.has_replica = true, .replica_lag = Millis(100)},
       .faults = {.fail_over = 1},
       .length = seconds(4)},
      {.name = "fail-over, the old server hangs",
       .sessions = joined({readers_and_writers(1), kWritersPast, kFlusher}),
       .bound = kServerBound,
       .servers = {.has_replica = true, .replica_lag = Millis(20)},
       .faults = {.cut = 0.3, .fail_over_hanging = 0.7, .stop_min = Millis(300)},
       .length = seconds(6)},
      {.name = "fail-over, the old server keeps the trackers",
       .sessions = joined({readers_and_writers(1), readers_and_writers(2), kWritersPast}),
       .proxies = 2,
       .bound = kServerBound,
       .servers = {.has_replica = true},
       .faults = {.fail_over_split = 0.7, .stop_min = Millis(1200)},
       .length = seconds(6)},
      {.name = "restarts with other data",
       .sessions = joined({readers_and_writers(1), kWritersPast}),
       .bound = kServerBound,
       .servers = {.dump_interval = Millis(200)},
       .faults = {.restart_empty = 0.5, .restart_older = 1, .stop_max = Millis(500)},
       .length = seconds(4)},
      {.name = "library, fail-over",
       .sessions = {"via=1,count=6,depth=2,set=100,think-us=1000",
                    "via=1,count=2,set=300,px=300,ttl=50,del=200,think-us=1000",
                    "via=0,set=4000,px=500,ttl=300,think-us=20000"},
       .proxies = 0,
       .bound = kServerBound,
       .servers = {.has_replica = true, .replica_lag = Millis(50), .dump_interval = Millis(200)},
       .faults = {.restart_older = 0.3,
                  .fail_over = 0.7,
                  .fail_over_hanging = 0.3,
                  .stop_max = Millis(600)},
       .library = {.count = 1, .has_own_loader = true},
       .length = seconds(4)},
  };
}

// What copies say is linearizable for readers past the one proxy, too, if all writers go through
// it. Reads that join a fill are not: so nobody joins one here.
std::vector<Scenario> of_other_readers() {
  const std::vector<std::string> others = {"via=0,count=4,think-us=200,keys=3"};
  return {
      {.name = "readers past it",
       .sessions = joined(
           {{"via=1,depth=8,think-us=300,keys=3", "via=1,set=8000,del=2000,think-us=40000,keys=3"},
            others}),
       .conditions = {.push_delay = Millis(5)},
       .options = {"refresh.enabled=no"},
       .network = {.slow_segment = 0.05, .slow_max = Millis(5)}},
      {.name = "library, readers past it",
       .sessions = joined(
           {{"via=1,depth=8,think-us=300,keys=3", "via=1,set=8000,del=2000,think-us=20000,keys=3"},
            others}),
       .proxies = 0,
       .library = {.count = 1, .options = {"refresh.enabled=no"}, .has_own_loader = true},
       .network = {.slow_segment = 0.05, .slow_max = Millis(5)}},
  };
}

// Fields of hashes end silently, each by itself: the server's cycle is off. The second field lives
// longer, and each change of it ends the copies, so that they are filled at any time of the first
// one's life.
std::vector<Scenario> of_fields() {
  const std::vector<std::string> readers = {
      "via=1,hash=1,count=4,depth=4,first=200,keys=4,think-us=1000"};
  const std::vector<std::string> past = {
      "via=0,hash=1,px=7000,beside=3000,ttl=200,first=200,keys=4,think-us=30000",
      "via=0,hash=1,px=2000,expire=2000,del=2000,set=2000,beside=2000,ttl=100,first=200,keys=4,"
      "think-us=60000"};
  const std::vector<std::string> through = {
      "via=1,hash=1,count=3,px=1000,expire=300,del=200,set=300,beside=1000,lcs=200,ttl=150,"
      "first=200,keys=4,think-us=10000"};
  const std::vector<std::string> around = {
      "via=1,hash=1,px=8000,set=1000,expire=1000,ttl=200,first=200,keys=4,think-us=100000",
      "via=1,hash=1,beside=10000,count=2,first=200,keys=4,think-us=10000"};
  const ServerOptions silent = {.expires_actively = false, .flavor = kRedis8};
  const ServerOptions valkey = {.expires_actively = false, .flavor = kValkey9};
  return {
      {.name = "fields of hashes", .sessions = joined({readers, through}), .servers = silent},
      {.name = "fields of hashes, late fills",
       .sessions = joined({readers, around}),
       .conditions = {.push_delay = Millis(5)},
       .servers = valkey,
       .faults = {.stop_keeper = 2, .stop_max = Millis(30)}},
      {.name = "fields of hashes, last milliseconds",
       .sessions = {"via=1,hash=1,count=2,px=200,beside=8000,ttl=20,first=200,keys=6,"
                    "think-us=1000",
                    "via=1,hash=1,count=3,first=200,keys=6,think-us=500"},
       .servers = silent},
      {.name = "fields of hashes, writers past it, faults",
       .sessions = joined({readers, through, past}),
       .bound = kServerBound,
       .servers = {.flavor = kValkey9},
       .faults = {.stop_server = 0.3,
                  .stop_loop = 0.3,
                  .stop_keeper = 0.3,
                  .restart_proxy = 0.2,
                  .restart_server = 0.1,
                  .cut = 0.3,
                  .cut_trackers = 0.3,
                  .forget = 1}},
  };
}

}  // namespace

std::vector<Scenario> server_scenarios() {
  std::vector<Scenario> out;
  for (const auto& part : {of_clocks(), of_losses(), of_other_readers(), of_fields()})
    out.insert(out.end(), part.begin(), part.end());
  out.push_back(of_clocks_of_the_library());
  return out;
}

}  // namespace heatsink::simulation
