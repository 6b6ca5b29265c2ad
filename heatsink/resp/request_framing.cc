// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/request_framing.h"

#include "heatsink/resp/decimal.h"

namespace heatsink::resp {

RequestLimits limits_before_auth(RequestLimits limits) {
  limits.args_max = 10;
  limits.argument_bytes_max = 16384;
  limits.unauthenticated = true;
  return limits;
}

std::optional<std::int64_t> read_count_line(std::string_view line, const RequestLimits& limits,
                                            std::string& error) {
  const std::optional<std::int64_t> count = parse_decimal(line.substr(1));
  if (count && *count <= limits.args_max) return count;
  const bool let_in_later = limits.unauthenticated && count && *count <= RequestLimits{}.args_max;
  error = let_in_later ? "ERR Protocol error: unauthenticated multibulk length"
                       : "ERR Protocol error: invalid multibulk length";
  return std::nullopt;
}

std::optional<std::int64_t> read_bulk_line(std::string_view line, const RequestLimits& limits,
                                           std::string& error) {
  if (line.empty() || line[0] != '$') {
    const char got =
        line.empty() || line[0] == '\n' ? ' ' : line[0];  // an error line must not contain CR or LF
    error = std::string("ERR Protocol error: expected '$', got '") + got + "'";
    return std::nullopt;
  }
  const std::optional<std::int64_t> bytes = parse_decimal(line.substr(1));
  if (bytes && *bytes >= 0 && *bytes <= limits.argument_bytes_max) return bytes;
  const bool let_in_later = limits.unauthenticated && bytes && *bytes >= 0 &&
                            *bytes <= RequestLimits{}.argument_bytes_max;
  error = let_in_later ? "ERR Protocol error: unauthenticated bulk length"
                       : "ERR Protocol error: invalid bulk length";
  return std::nullopt;
}

}  // namespace heatsink::resp
