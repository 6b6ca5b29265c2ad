// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers: records what a ReplyScanner finds in a stream that arrives in given
// pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/testing/request_trace.h"
#include "heatsink/resp/value.h"

namespace heatsink::resp::testing {

struct TracedReply {
  std::size_t end;  // offset after it
  char type;
  std::int64_t announced;
  std::string first_text;
  std::string error_code;
  bool operator==(const TracedReply&) const = default;
};

struct ReplyTrace {
  std::vector<TracedReply> replies;
  bool error = false;
  bool operator==(const ReplyTrace&) const = default;
};

inline ReplyTrace trace_replies(std::string_view bytes, const NextPiece& next_piece) {
  ReplyScanner scanner;
  ReplyTrace trace;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t n = std::min(next_piece(), bytes.size() - at);
    const auto piece =
        std::make_unique<char[]>(n);  // its own allocation, so that a sanitizer sees a step too far
    std::copy_n(bytes.data() + at, n, piece.get());
    const ScanStep step = scanner.feed({piece.get(), n});
    at += step.consumed;
    if (step.status == ScanStatus::kError) {
      trace.error = true;
      break;
    }
    if (step.status == ScanStatus::kNeedMore) continue;
    trace.replies.push_back({at, scanner.type(), scanner.announced(),
                             std::string(scanner.first_text()), std::string(scanner.error_code())});
  }
  return trace;
}

inline ReplyTrace trace_replies(std::string_view bytes) {
  return trace_replies(bytes, [n = bytes.size()] { return n; });
}

// The same with parse_value(): the end of each reply, and whether the rest is an error.
inline ReplyTrace trace_values(std::string_view bytes) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  constexpr ValueLimits kLimits{
      .depth_max = ReplyScanner::kDepthMax, .bytes_max = kNone, .items_max = kNone};
  ReplyTrace trace;
  std::size_t at = 0;
  ValueStatus status = ValueStatus::kValue;
  while (status == ValueStatus::kValue) {
    Value value;
    std::size_t consumed = 0;
    status = parse_value(bytes.substr(at), value, consumed, kLimits);
    if (status == ValueStatus::kValue) trace.replies.push_back({at += consumed, 0, 0, {}, {}});
  }
  trace.error = status == ValueStatus::kError;
  return trace;
}

// Whether two traces have their replies end at the same offsets and agree on the rest.
inline bool same_extents(const ReplyTrace& a, const ReplyTrace& b) {
  const auto same_end = [](const TracedReply& x, const TracedReply& y) { return x.end == y.end; };
  return a.error == b.error && std::equal(a.replies.begin(), a.replies.end(), b.replies.begin(),
                                          b.replies.end(), same_end);
}

}  // namespace heatsink::resp::testing
