// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/server_info.h"

#include <charconv>
#include <cmath>
#include <string>

#include "heatsink/base/printable.h"

namespace heatsink::observe {

std::string_view info_field(std::string_view info, std::string_view name) {
  for (std::size_t at = 0; at < info.size();) {
    const std::size_t end = std::min(info.find('\n', at), info.size());
    std::string_view line = info.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  return {};
}

std::optional<double> info_number(std::string_view info, std::string_view name) {
  return number_in(info_field(info, name));
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

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

std::string server_version(std::string_view info) {
  const std::string_view valkey = info_field(info, "valkey_version");
  if (!valkey.empty()) return "valkey " + printable(valkey, 32);
  const std::string_view redis = info_field(info, "redis_version");
  return redis.empty() ? "" : "redis " + printable(redis, 32);
}

}  // namespace heatsink::observe
