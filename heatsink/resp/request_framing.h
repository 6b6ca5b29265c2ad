// SPDX-License-Identifier: Apache-2.0
// Defines how Redis frames a multi-bulk request: limits, header lines, and the server's error
// messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heatsink::resp {

// The limits of Redis 7.0 (networking.c, server.h); the last two are heatsink's.
struct RequestLimits {
  std::int64_t args_max = 2147483647;                     // multi-bulk count
  std::int64_t argument_bytes_max = 512LL * 1024 * 1024;  // proto-max-bulk-len
  std::size_t line_bytes_max = 64 * 1024;  // inline requests, and "*n" / "$n" lines; at least 32
  std::size_t buffered_bytes_max = 1024 * 1024;  // a request beyond it must be streamed
  std::size_t buffered_args_max = 64 * 1024;     // a request beyond it must be streamed
  bool unauthenticated = false;                  // makes errors explain the low limits
};

// For a request of this size that the program has in memory: it is never oversized.
inline RequestLimits limits_for(std::size_t bytes) {
  RequestLimits limits;
  limits.buffered_bytes_max = std::max(limits.buffered_bytes_max, bytes);
  limits.buffered_args_max = std::max(limits.buffered_args_max, bytes);
  return limits;
}

// The server's limits for a client that has not authenticated yet: room for AUTH and HELLO
// (parseMultibulk in Redis's networking.c: 10 arguments of 16 KiB).
RequestLimits limits_before_auth(RequestLimits limits);

enum class ParseStatus {
  kRequest,    // one whole request: args(), size()
  kNeedMore,   // call again with the same bytes and more after them
  kOversized,  // valid so far, but past buffered_*_max: args() are the arguments complete so far;
               // go on with stream()
  kError,      // error() is what Redis answers before it closes the connection
};

inline constexpr std::string_view kCountLineTooLong =
    "ERR Protocol error: too big mbulk count string";
inline constexpr std::string_view kBulkLineTooLong =
    "ERR Protocol error: too big bulk count string";
inline constexpr std::string_view kInlineTooLong = "ERR Protocol error: too big inline request";
inline constexpr std::string_view kUnbalancedQuotes =
    "ERR Protocol error: unbalanced quotes in request";

// The number in a complete "*n" or "$n" line (with its first byte, without its end), checked like
// the server does and in the same order. Nothing if it is wrong; `error` then explains it. A count
// may be negative: then the request is empty.
std::optional<std::int64_t> read_count_line(std::string_view line, const RequestLimits& limits,
                                            std::string& error);
std::optional<std::int64_t> read_bulk_line(std::string_view line, const RequestLimits& limits,
                                           std::string& error);

}  // namespace heatsink::resp
