// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/process_limits.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

namespace heatsink {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

namespace {

using Visit = std::function<void(const std::string& directory, bool unified)>;

void visit_up(const std::string& root, std::string path, bool unified, const Visit& visit) {
  while (true) {
    visit(root + path, unified);
    const std::size_t cut = path.rfind('/');
    if (path.empty() || cut == std::string::npos) return;
    path.resize(cut);
  }
}

// A line is "hierarchy:controllers:path"; v2 names no controllers.
void visit_line(const std::string& root, std::string_view line, std::string_view controller,
                const Visit& visit) {
  const std::size_t first = line.find(':');
  if (first == std::string_view::npos) return;
  const std::size_t second = line.find(':', first + 1);
  if (second == std::string_view::npos) return;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  std::string path(line.substr(second + 1));
  if (path == "/") path.clear();
  if (controllers.empty()) return visit_up(root, std::move(path), true, visit);
  const std::string listed = "," + std::string(controllers) + ",";
  const std::string name(controller);
  if (listed.find("," + name + ",") == std::string::npos) return;
  visit_up(root + "/" + name, std::move(path), false, visit);
}

}  // namespace

void for_each_control_group(const std::string& root, std::string_view membership,
                            std::string_view controller, const Visit& visit) {
  while (!membership.empty()) {
    const std::size_t end = std::min(membership.find('\n'), membership.size());
    visit_line(root, membership.substr(0, end), controller, visit);
    membership.remove_prefix(std::min(end + 1, membership.size()));
  }
}

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

namespace {

// A v1 group without a limit reports a number near 2^63.
constexpr std::uint64_t kNoLimitFrom = std::uint64_t{1} << 60;

std::uint64_t number_in(const std::string& path) {
  const std::string text = file_text(path);
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && number < kNoLimitFrom ? number : 0;  // "max" is not a number
}

std::uint64_t least(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

std::uint64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::uint64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  const std::uint64_t taken =
      number_in("/proc/self/statm") * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return limit.rlim_cur > taken ? limit.rlim_cur - taken : 1;
}

}  // namespace

std::uint64_t control_group_limit(const std::string& root, std::string_view membership) {
  std::uint64_t limit = 0;
  for_each_control_group(root, membership, "memory",
                         [&](const std::string& directory, bool unified) {
                           const char* file = unified ? "/memory.max" : "/memory.limit_in_bytes";
                           limit = least(limit, number_in(directory + file));
                         });
  return limit;
}

MemoryLimits memory_limits() {
  return {.machine = machine_memory(),
          .control_group = control_group_limit("/sys/fs/cgroup", file_text("/proc/self/cgroup")),
          .address_space = address_space_left()};
}

Bytes share_for_buffers(const MemoryLimits& limits) {
  const auto part = [](std::uint64_t limit, std::uint64_t divisor) {
    return limit == 0 ? 0 : std::max<std::uint64_t>(limit / divisor, 1);
  };
  const std::uint64_t share =
      least(part(least(limits.machine, limits.control_group), 2), part(limits.address_space, 4));
  if (share == 0) return mebibytes(1024);
  return Bytes{std::max(share, mebibytes(16).count)};
}

std::uint64_t raise_file_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace heatsink
