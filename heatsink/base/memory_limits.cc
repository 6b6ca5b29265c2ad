// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/memory_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "heatsink/base/control_group.h"
#include "heatsink/base/file_text.h"

namespace heatsink {
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
  const auto part = [](std::uint64_t limit, std::uint64_t parts) {
    return limit == 0 ? 0 : std::max<std::uint64_t>(limit / parts, 1);
  };
  const std::uint64_t share =
      least(part(least(limits.machine, limits.control_group), 2), part(limits.address_space, 4));
  if (share == 0) return mebibytes(1024);
  return Bytes{std::max(share, mebibytes(16).count)};
}

}  // namespace heatsink
