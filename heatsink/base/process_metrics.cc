// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "heatsink/base/process_limits.h"

namespace heatsink {
namespace {

constexpr MetricRow kCpu{"process_cpu_seconds_total", MetricKind::kCounter,
                         "CPU time of the process, user and system."};
constexpr MetricRow kStart{"process_start_time_seconds", MetricKind::kGauge,
                           "Start time of the process, in seconds since 1970."};
constexpr MetricRow kResident{"process_resident_memory_bytes", MetricKind::kGauge,
                              "Memory of the process that is in RAM."};
constexpr MetricRow kVirtual{"process_virtual_memory_bytes", MetricKind::kGauge,
                             "Address space of the process."};
constexpr MetricRow kOpen{"process_open_fds", MetricKind::kGauge, "Open file descriptors."};
constexpr MetricRow kOpenMax{"process_max_fds", MetricKind::kGauge,
                             "Maximum number of open file descriptors (ulimit -n)."};

// The start of the machine, in seconds since 1970; 0: not known.
double boot_time() {
  const std::string text = file_text("/proc/stat");
  constexpr std::string_view kName = "\nbtime ";
  const std::size_t at = text.find(kName);
  std::uint64_t seconds = 0;
  if (at != std::string::npos)
    std::from_chars(text.data() + at + kName.size(), text.data() + text.size(), seconds);
  return static_cast<double>(seconds);
}

std::size_t open_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/fd", error);
  return error ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 2);
  constexpr std::size_t kFirst = 3;  // number of the first field after the name, as in proc(5)
  constexpr std::size_t kUser = 14, kSystem = 15, kStarted = 22, kAddresses = 23, kPages = 24;
  std::vector<std::uint64_t> fields(kFirst, 0);
  while (fields.size() <= kPages && !text.empty()) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    fields.push_back(number);  // a letter or a negative number, which is not needed: 0
    const std::size_t space = text.find(' ');
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  if (fields.size() <= kPages) return std::nullopt;
  return ProcessStat{fields[kUser] + fields[kSystem], fields[kStarted], fields[kAddresses],
                     fields[kPages]};
}

// /proc/self/statm has "size resident shared ..." in pages (proc(5)).
ResidentMemory resident_memory() {
  const std::string text = file_text("/proc/self/statm");
  std::array<std::uint64_t, 3> pages{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::uint64_t& number : pages) {
    const auto [next, fault] = std::from_chars(at, end, number);
    if (fault != std::errc{}) return {};
    at = next == end ? end : next + 1;
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {.all = pages[1] * page, .files = pages[2] * page};
}

MetricSamples process_samples() {
  MetricSamples samples;
  if (const std::optional<ProcessStat> stat = parse_process_stat(file_text("/proc/self/stat"))) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    samples.push_back({&kCpu, static_cast<double>(stat->cpu_ticks) / ticks});
    samples.push_back({&kStart, boot_time() + static_cast<double>(stat->start_ticks) / ticks});
    samples.push_back({&kResident, static_cast<double>(stat->resident_pages) * page});
    samples.push_back({&kVirtual, static_cast<double>(stat->virtual_bytes)});
  }
  if (const std::size_t open = open_descriptors(); open > 0)
    samples.push_back({&kOpen, static_cast<double>(open)});
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    samples.push_back({&kOpenMax, static_cast<double>(limit.rlim_cur)});
  return samples;
}

MetricRows process_rows() { return {&kCpu, &kStart, &kResident, &kVirtual, &kOpen, &kOpenMax}; }

}  // namespace heatsink
