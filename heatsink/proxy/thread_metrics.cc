// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/thread_metrics.h"

#include <pthread.h>
#include <time.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr MetricRow kCpu{"heatsink_thread_cpu_seconds_total", MetricKind::kCounter,
                         "CPU time of a thread. thread is worker-N (it serves clients; the next "
                         "worker is used when those "
                         "before it are busy) or keeper (it maintains the local copies).",
                         "thread"};

std::optional<double> cpu_seconds(const std::thread& thread) {
  clockid_t clock{};
  timespec time{};
  // native_handle() is not const, although it changes nothing.
  if (pthread_getcpuclockid(const_cast<std::thread&>(thread).native_handle(), &clock) != 0 ||
      clock_gettime(clock, &time) != 0)
    return std::nullopt;  // the thread has ended
  constexpr double kNanos = 1e9;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / kNanos;
}

}  // namespace

void append_thread_samples(MetricSamples& samples, const std::thread& keeper,
                           std::span<const std::thread> workers) {
  const auto append = [&samples](std::string name, const std::thread& thread) {
    if (!thread.joinable()) return;
    if (const std::optional<double> seconds = cpu_seconds(thread))
      samples.push_back({&kCpu, *seconds, {{"thread", std::move(name)}}});
  };
  append("keeper", keeper);
  for (std::size_t i = 0; i < workers.size(); ++i)
    append("worker-" + std::to_string(i), workers[i]);
}

MetricRows thread_rows() { return {&kCpu}; }

}  // namespace heatsink::proxy
