// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/cpu_limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <thread>

#include "heatsink/base/control_group.h"
#include "heatsink/base/file_text.h"

namespace heatsink {
namespace {

constexpr double kLeastCpus = 0.01;  // the least quota that the kernel accepts

// Removes leading blanks and the number after them from `text`, and returns the number. 0 for none,
// for a negative one ("no quota" in v1), and for a word ("max" in v2).
std::uint64_t take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::uint64_t first_number_in(const std::string& path) {
  const std::string text = file_text(path);
  std::string_view rest = text;
  return take_number(rest);
}

double quota_of(const std::string& directory, bool unified) {
  std::uint64_t quota = 0, period = 0;
  if (unified) {
    const std::string text = file_text(directory + "/cpu.max");
    std::string_view rest = text;
    quota = take_number(rest);
    if (quota > 0) period = take_number(rest);
  } else {
    quota = first_number_in(directory + "/cpu.cfs_quota_us");
    period = first_number_in(directory + "/cpu.cfs_period_us");
  }
  if (quota == 0 || period == 0) return 0;
  return static_cast<double>(quota) / static_cast<double>(period);
}

double allowed_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // Fails on machines with more CPUs than the set can hold.
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

double cpu_quota(const std::string& root, std::string_view membership) {
  double least = 0;
  for_each_control_group(root, membership, "cpu", [&](const std::string& directory, bool unified) {
    const double quota = quota_of(directory, unified);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  });
  return least;
}

double usable_cpus() {
  const double quota = cpu_quota("/sys/fs/cgroup", file_text("/proc/self/cgroup"));
  const double allowed = allowed_cpus();
  return std::max(kLeastCpus, quota > 0 ? std::min(quota, allowed) : allowed);
}

std::optional<double> idle_cpu_seconds(std::string_view stat) {
  constexpr std::string_view kName = "cpu ";  // the first line is the sum of all CPUs
  if (!stat.starts_with(kName)) return std::nullopt;
  stat.remove_prefix(kName.size());
  stat = stat.substr(0, stat.find('\n'));
  for (int i = 0; i < 3; ++i) take_number(stat);  // user, nice, system
  const std::uint64_t idle = take_number(stat);
  const std::uint64_t waits_for_disk = take_number(stat);
  static const long ticks = sysconf(_SC_CLK_TCK);
  return static_cast<double>(idle + waits_for_disk) / static_cast<double>(std::max(1L, ticks));
}

}  // namespace heatsink
