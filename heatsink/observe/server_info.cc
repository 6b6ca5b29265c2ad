// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/server_info.h"

#include <charconv>
#include <cmath>
#include <string>

namespace heatsink::observe {

std::optional<ServerWork> work_of(std::string_view stats, std::string_view cpu) {
  const auto commands = info_number(stats, "total_commands_processed");
  auto user = info_number(cpu, "used_cpu_user_main_thread");
  auto system = info_number(cpu, "used_cpu_sys_main_thread");
  if (!user || !system) {
    user = info_number(cpu, "used_cpu_user");
    system = info_number(cpu, "used_cpu_sys");
  }
  if (!commands || !user || !system) return std::nullopt;
  return ServerWork{0, *commands, *user + *system};
}

std::optional<double> lifetime_rate_of(std::string_view stats, std::string_view server) {
  constexpr double kAgeSecondsMin = 60;
  const auto commands = info_number(stats, "total_commands_processed");
  const auto age = info_number(server, "uptime_in_seconds");
  if (!commands || !age || *age < kAgeSecondsMin) return std::nullopt;
  return *commands / *age;
}

}  // namespace heatsink::observe
