// SPDX-License-Identifier: Apache-2.0
// Measures how busy the workers' threads and the machine are.
#pragma once

#include <ctime>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// One thread uses it. Cost of a look: one clock_gettime(2) for each worker. While a worker is busy,
// or several are used, also one read of /proc/stat: 50 us on a machine with 2 CPUs, more with many.
class WorkerLoads {
 public:
  // `cpu_clocks`: of the workers' threads, in their order (pthread_getcpuclockid(3)), which live
  // longer than this.
  explicit WorkerLoads(std::vector<clockid_t> cpu_clocks) : clocks_(std::move(cpu_clocks)) {}

  struct Reading {
    std::vector<double> busy;  // of each worker: CPU time / time; 0 .. 1
    double idle_cpus;          // of the machine; all of them if that is not known, or not needed
  };
  // Since the last call. Nothing if that is not known: at the first call, if no time has passed, or
  // if the idle time is needed for the first time.
  std::optional<Reading> look(TimePoint now);

 private:
  struct Counters {
    TimePoint at;
    std::vector<double> cpu_seconds;
    std::optional<double> idle_seconds;
  };
  Counters count(TimePoint now) const;
  static bool needs_idle_time(const std::vector<double>& busy);

  const std::vector<clockid_t> clocks_;
  std::optional<Counters> last_;
};

}  // namespace heatsink::proxy
