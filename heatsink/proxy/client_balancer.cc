// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/client_balancer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "heatsink/base/process_limits.h"

namespace heatsink::proxy {
namespace {

// Shares of a CPU. Below them WorkerBalance does not need the machine's idle time.
constexpr double kUsed = 0.02, kBusy = 0.5;

}  // namespace

ClientBalancer::ClientBalancer(std::vector<BalancedWorker*> workers)
    : workers_(std::move(workers)),
      reported_(std::make_unique<Reported[]>(workers_.size())),
      balance_(workers_.size()) {}

void ClientBalancer::report(std::size_t worker, const WorkerBalance::Load& load, TimePoint now) {
  reported_[worker].busy.store(load.busy, std::memory_order_relaxed);
  reported_[worker].clients.store(load.clients, std::memory_order_relaxed);
  if (worker == 0) look(now);
}

void ClientBalancer::look(TimePoint now) {
  std::vector<WorkerBalance::Load> loads;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    loads.push_back({reported_[i].busy.load(std::memory_order_relaxed),
                     reported_[i].clients.load(std::memory_order_relaxed)});
  }
  const std::optional<double> idle = idle_cpus(loads, now);
  if (!idle) return;
  const std::optional<WorkerBalance::Move> move = balance_.look(now, loads, *idle);
  if (!move) return;
  workers_[move->from]->give_clients(move->clients, *workers_[move->to]);
}

// Idle CPUs of the machine since the last look. All CPUs if the number is not needed or the kernel
// does not report it. nullopt on the first measurement.
std::optional<double> ClientBalancer::idle_cpus(const std::vector<WorkerBalance::Load>& loads,
                                                TimePoint now) {
  const auto used =
      std::count_if(loads.begin(), loads.end(), [](const auto& load) { return load.busy > kUsed; });
  const bool is_busy =
      std::any_of(loads.begin(), loads.end(), [](const auto& load) { return load.busy > kBusy; });
  const double all = std::max(1U, std::thread::hardware_concurrency());
  const std::optional<IdleTime> before = std::exchange(idle_time_, std::nullopt);
  if (used < 2 && !is_busy) return all;
  const std::optional<double> seconds = idle_cpu_seconds(file_text("/proc/stat"));
  if (!seconds) return all;
  idle_time_ = IdleTime{now, *seconds};
  if (!before || now <= before->at) return std::nullopt;
  const double passed = std::chrono::duration<double>(now - before->at).count();
  return std::clamp((*seconds - before->seconds) / passed, 0.0, all);
}

}  // namespace heatsink::proxy
