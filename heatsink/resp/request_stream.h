// SPDX-License-Identifier: Apache-2.0
// Passes over a multi-bulk request that is too big to hold, in pieces of any size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/resp/decimal.h"
#include "heatsink/resp/request_framing.h"

namespace heatsink::resp {

// Not thread-safe; O(1) memory, allocates only for an error. One request after the other: call
// walk() until it returns kRequest; the next call expects the first byte of the next request.
class RequestStream {
 public:
  // `consumed`: how many of `bytes` belong to the request. kRequest: it ended with the last of
  // them. kNeedMore: it continues, and all were consumed. kError: see `error`, as
  // RequestParser::error().
  ParseStatus walk(std::string_view bytes, const RequestLimits& limits, std::size_t& consumed,
                   std::string& error);

  void reset() { *this = RequestStream(); }

 private:
  enum class Line { kOpen, kWhole, kTooLong };

  Line take(char byte, std::size_t line_bytes_max);
  bool read_header(const RequestLimits& limits, std::string& error);

  std::int64_t args_left_ = -1;  // -1: before the count line
  std::uint64_t body_left_ = 0;  // bytes of the argument and its CRLF; 0: in a header line

  // The header line so far. Bytes beyond this size only make the number too long to be valid.
  std::array<char, kDecimalBytesMax + 2> line_{};
  std::size_t line_bytes_ = 0;
  bool line_ended_ = false;  // by CR; the byte after it has not come yet
  bool line_stuck_ = false;  // by a NUL: see find_line_end() in request_parser.cc
};

}  // namespace heatsink::resp
