// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/worker_loads.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "heatsink/base/cpu_limits.h"
#include "heatsink/base/file_text.h"

namespace heatsink::proxy {
namespace {

constexpr double kUsed = 0.02, kBusy = 0.5;  // of a CPU

double cpu_seconds(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

WorkerLoads::Counters WorkerLoads::count(TimePoint now) const {
  Counters counters{now, {}, std::nullopt};
  counters.cpu_seconds.reserve(clocks_.size());
  for (const clockid_t clock : clocks_) counters.cpu_seconds.push_back(cpu_seconds(clock));
  return counters;
}

// What WorkerBalance decides depends on it only then.
bool WorkerLoads::needs_idle_time(const std::vector<double>& busy) {
  const auto used = std::count_if(busy.begin(), busy.end(), [](double each) { return each > kUsed; });
  return used > 1 || std::any_of(busy.begin(), busy.end(), [](double each) { return each > kBusy; });
}

std::optional<WorkerLoads::Reading> WorkerLoads::look(TimePoint now) {
  if (last_ && now <= last_->at) return std::nullopt;
  const std::optional<Counters> before = std::exchange(last_, count(now));
  if (!before) return std::nullopt;
  const double seconds = std::chrono::duration<double>(now - before->at).count();
  Reading reading{{}, static_cast<double>(std::max(1U, std::thread::hardware_concurrency()))};
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    const double used = last_->cpu_seconds[i] - before->cpu_seconds[i];
    reading.busy.push_back(std::clamp(used / seconds, 0.0, 1.0));
  }
  if (!needs_idle_time(reading.busy)) return reading;
  last_->idle_seconds = idle_cpu_seconds(file_text("/proc/stat"));
  if (!last_->idle_seconds) return reading;
  if (!before->idle_seconds) return std::nullopt;
  reading.idle_cpus = std::max(0.0, (*last_->idle_seconds - *before->idle_seconds) / seconds);
  return reading;
}

}  // namespace heatsink::proxy
