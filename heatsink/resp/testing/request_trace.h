// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers: records what a RequestParser finds in a stream that arrives in given
// pieces.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/request_parser.h"

namespace heatsink::resp::testing {

struct TracedRequest {
  std::vector<std::string> args;
  std::string raw;  // the bytes, whether parsed or streamed
  bool is_inline = false;
  bool oversized = false;
  bool operator==(const TracedRequest&) const = default;
};

struct RequestTrace {
  std::vector<TracedRequest> requests;
  std::string error;       // empty: none
  std::string left;        // bytes of an unfinished request
  bool in_stream = false;  // the unfinished request is an oversized one
  bool operator==(const RequestTrace&) const = default;
};

// The size of the next piece; at least one.
using NextPiece = std::function<std::size_t()>;

class RequestTracer {
 public:
  RequestTracer(const RequestLimits& limits, NextPiece next_piece)
      : parser_(limits), next_piece_(std::move(next_piece)) {}

  RequestTrace run(std::string_view bytes) {
    while (trace_.error.empty() && !bytes.empty()) {
      const std::size_t n = std::min(next_piece_(), bytes.size());
      arrive(bytes.substr(0, n));
      bytes.remove_prefix(n);
    }
    if (trace_.error.empty()) trace_.left.assign(pending_.begin(), pending_.end());
    return std::move(trace_);
  }

 private:
  // Moves the bytes at each arrival to an allocation of exactly their size, so that a sanitizer
  // sees any old view and any step too far.
  void arrive(std::string_view piece) {
    std::vector<char> moved(pending_.begin(), pending_.end());
    moved.insert(moved.end(), piece.begin(), piece.end());
    moved.shrink_to_fit();
    pending_.swap(moved);
    while (advance()) {
    }
  }

  bool advance() {
    if (pending_.empty() || !trace_.error.empty()) return false;
    return trace_.in_stream ? advance_stream() : advance_parse();
  }

  bool advance_parse() {
    const ParseStatus status = parser_.parse({pending_.data(), pending_.size()});
    if (status == ParseStatus::kNeedMore) return false;
    if (status == ParseStatus::kError) return stop();
    trace_.requests.push_back(
        {{parser_.args().begin(), parser_.args().end()}, {}, parser_.is_inline(), false});
    if (status == ParseStatus::kOversized) {
      trace_.in_stream = trace_.requests.back().oversized = true;
      return true;
    }
    take(trace_.requests.back().raw, parser_.size());
    return true;
  }

  bool advance_stream() {
    std::size_t consumed = 0;
    const std::size_t offered = std::min(next_piece_(), pending_.size());
    const ParseStatus status = parser_.stream({pending_.data(), offered}, consumed);
    if (status == ParseStatus::kError) return stop();
    assert(status == ParseStatus::kRequest || consumed == offered);
    take(trace_.requests.back().raw, consumed);
    trace_.in_stream = status != ParseStatus::kRequest;
    return true;
  }

  void take(std::string& to, std::size_t n) {
    assert(n > 0 && n <= pending_.size());
    to.append(pending_.data(), n);
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  bool stop() {
    trace_.error = parser_.error();
    if (trace_.in_stream)
      trace_.requests.back().raw.clear();  // the bytes so far depend on the pieces
    return false;
  }

  RequestParser parser_;
  NextPiece next_piece_;
  std::vector<char> pending_;
  RequestTrace trace_;
};

inline RequestTrace trace_requests(std::string_view bytes, NextPiece next_piece,
                                   const RequestLimits& limits = {}) {
  return RequestTracer(limits, std::move(next_piece)).run(bytes);
}

inline RequestTrace trace_requests(std::string_view bytes, const RequestLimits& limits = {}) {
  return trace_requests(
      bytes, [n = bytes.size()] { return n; }, limits);
}

// Pieces of these sizes (0 counts as 1), repeated. REQUIRES sizes not empty.
inline NextPiece pieces_of(std::vector<std::size_t> sizes) {
  return [sizes = std::move(sizes), i = std::size_t{0}]() mutable {
    return std::max<std::size_t>(sizes[i++ % sizes.size()], 1);
  };
}

}  // namespace heatsink::resp::testing
