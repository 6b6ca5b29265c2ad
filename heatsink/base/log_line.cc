// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log_line.h"

namespace heatsink {
namespace {

// Control characters are escaped already; only JSON's own special characters remain.
std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string to_text(const LogLine& line, LogFormat format) {
  const std::string time = iso_time(line.at);
  const std::string level = to_string(line.level);
  if (format == LogFormat::kText) return time + " " + level + " " + line.message + "\n";
  return R"({"time":")" + time + R"(","level":")" + level + R"(","message":)" +
         json_string(line.message) + "}\n";
}

}  // namespace heatsink
