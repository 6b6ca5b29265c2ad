// SPDX-License-Identifier: Apache-2.0
// Finds the requests in what a client sends: multi-bulk and inline, without copying an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::resp {

// As Redis 7.0 has them (networking.c, server.h); the last two are ours.
struct RequestLimits {
  std::int64_t args_max = 2147483647;                    // multi-bulk count
  std::int64_t argument_bytes_max = 512LL * 1024 * 1024;  // proto-max-bulk-len
  std::size_t line_bytes_max = 64 * 1024;                // inline requests, and "*n" / "$n" lines
  std::size_t buffered_bytes_max = 1024 * 1024;          // past this a request is to be streamed
  std::size_t buffered_args_max = 64 * 1024;             // likewise
};

enum class ParseStatus {
  kRequest,    // one whole request: args(), size()
  kNeedMore,   // call again with the same bytes and more behind them
  kOversized,  // valid so far, but past buffered_*_max: args() are the arguments complete so far; go on with stream()
  kError,      // error() is what Redis answers before it closes the connection
};

// One per client connection; not thread-safe; copies no bytes and allocates only when a request has
// more arguments than any before it. The protocol: `(parse* stream*)*`, where parse() is given the
// unconsumed bytes from the first byte of a request on. After kNeedMore the caller may move the
// bytes: only offsets are kept, and no byte is looked at twice however the input is split.
// Memory grows with the arguments that have really arrived, never by an announced number.
class RequestParser {
 public:
  explicit RequestParser(const RequestLimits& limits = {}) : limits_(limits) {}

  ParseStatus parse(std::string_view bytes);

  // After kRequest and kOversized; views into the last parse()'s bytes. Empty for "\r\n", "*0\r\n"
  // and "*-1\r\n", which Redis skips in silence.
  const std::vector<std::string_view>& args() const { return args_; }

  // After kRequest: how many of the bytes the request took. The caller drops them, then parses on.
  std::size_t size() const { return size_; }

  // True if the request came as an inline command ("GET k\r\n"): args() are then views of an
  // unquoted copy inside the parser, and the raw bytes cannot be forwarded as they are.
  bool is_inline() const { return inline_; }

  // After kOversized: walks over the raw bytes of the very same request, from its first byte on, in
  // pieces of any size, so that they can be passed through. `consumed` is how many of `bytes` belong
  // to the request; kRequest when it has ended (and the parser is ready for the next one),
  // kNeedMore while it has not, kError if its framing breaks.
  ParseStatus stream(std::string_view bytes, std::size_t& consumed);

  // After kError: without the leading '-' and the CRLF, e.g. "ERR Protocol error: invalid bulk length".
  std::string_view error() const { return error_; }

  // Forgets a half-read request.
  void reset();

 private:
  RequestLimits limits_;
  std::vector<std::string_view> args_;
  std::size_t size_ = 0;
  bool inline_ = false;
  std::string error_;
  // (state of the implementation follows)
};

}  // namespace heatsink::resp
