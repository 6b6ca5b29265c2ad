// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/shrink.h"

#include <array>
#include <utility>

namespace heatsink::simulation {
namespace {

constexpr std::uint64_t kSeedsTried = 5;  // of one smaller scenario
constexpr Nanos kShortest = Millis(20);

constexpr std::array<FaultKind, 36> kKinds = {
    {{"stop the server", &Faults::stop_server},
     {"stop a thread", &Faults::stop_loop},
     {"stop a keeper", &Faults::stop_keeper},
     {"stop a proxy", &Faults::stop_proxy},
     {"restart a proxy", &Faults::restart_proxy},
     {"restart the server", &Faults::restart_server},
     {"cut", &Faults::cut},
     {"cut the trackers", &Faults::cut_trackers},
     {"forget", &Faults::forget},
     {"flush", &Faults::flush},
     {"hold pushes", &Faults::hold},
     {"lose pushes", &Faults::lose},
     {"garble", &Faults::garble},
     {"answer twice", &Faults::answer_twice},
     {"reconfigure a proxy", &Faults::reconfigure},
     {"restart the server empty", &Faults::restart_empty},
     {"restart the server with older data", &Faults::restart_older},
     {"fail over", &Faults::fail_over},
     {"fail over from a server that hangs", &Faults::fail_over_hanging},
     {"fail over from a server that keeps the trackers", &Faults::fail_over_split},
     {"suspend the server", &Faults::suspend_server},
     {"put the server's clock", &Faults::jump_clock},
     {"put the clients' clock", &Faults::jump_client_clock},
     {"move a slot", &Faults::move_slot},
     {"steal a slot", &Faults::steal_slot},
     {"move a slot atomically", &Faults::move_atomically},
     {"fail over by hand", &Faults::fail_over_by_hand},
     {"kill a node", &Faults::kill_node},
     {"stop a master", &Faults::stop_master},
     {"stop a master until it is replaced", &Faults::stop_until_replaced},
     {"separate nodes", &Faults::separate},
     {"stop a node shortly", &Faults::stop_node_shortly},
     {"stop a thread of the library", &Faults::stop_thread},
     {"stop a link", &Faults::stop_link},
     {"stop the library", &Faults::stop_library},
     {"restart the library", &Faults::restart_library}}};

class Shrinking {
 public:
  Shrinking(Shrunk best, std::size_t attempts_max, const IsBroken& is_broken)
      : best_(std::move(best)), attempts_max_(attempts_max), is_broken_(is_broken) {}

  Shrunk run() {
    bool smaller = true;
    while (smaller) {
      smaller = false;
      for (std::size_t i = 0; i < best_.scenario.sessions.size();) {
        Scenario without = best_.scenario;
        without.sessions.erase(without.sessions.begin() + static_cast<std::ptrdiff_t>(i));
        if (!without.sessions.empty() && try_it(without, best_.time))
          smaller = true;
        else
          ++i;
      }
      for (const FaultKind& kind : kKinds) {
        Scenario without = best_.scenario;
        if (std::exchange(without.faults.*kind.rate, 0) > 0 && try_it(without, best_.time))
          smaller = true;
      }
      while (best_.time / 2 >= kShortest && try_it(best_.scenario, best_.time / 2)) smaller = true;
    }
    return std::move(best_);
  }

 private:
  bool try_it(const Scenario& scenario, Nanos time) {
    for (std::uint64_t i = 0; i < kSeedsTried; ++i) {
      if (best_.attempts >= attempts_max_) return false;
      ++best_.attempts;
      if (!is_broken_(scenario, best_.seed + i, time)) continue;
      best_.scenario = scenario;
      best_.time = time;
      best_.seed += i;
      return true;
    }
    return false;
  }

  Shrunk best_;
  const std::size_t attempts_max_;
  const IsBroken& is_broken_;
};

}  // namespace

std::span<const FaultKind> fault_kinds() { return kKinds; }

Shrunk shrink(const Scenario& scenario, std::uint64_t seed, Nanos time, std::size_t attempts_max,
              const IsBroken& is_broken) {
  return Shrinking({scenario, time, seed}, attempts_max, is_broken).run();
}

}  // namespace heatsink::simulation
