// SPDX-License-Identifier: Apache-2.0
// Finds the requests in what a client sends: multi-bulk and inline, without copying an argument.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/request_framing.h"
#include "heatsink/resp/request_stream.h"

namespace heatsink::resp {

// One per client connection; not thread-safe; copies no bytes and allocates only when a request has
// more arguments than any before it. The protocol: `(parse* stream*)*`, where parse() is given the
// unconsumed bytes from the first byte of a request on. After kNeedMore the caller may move the
// bytes: only offsets are kept, and the work is linear in the bytes however they are split.
// Memory grows with the arguments that have really arrived, never by an announced number; what it
// took past kArgsKept and kInlineBytesKept is given back when a later request begins.
//
// The outcome depends on the bytes alone, not on how they were split. Redis itself judges a header
// line past line_bytes_max by what one read() happened to bring; here it is always too long.
// Otherwise it is followed to the letter, down to its reading lines as C strings: a NUL in a header
// or inline request hides the end of the line, so it waits for more until the line is too long.
class RequestParser {
 public:
  static constexpr std::size_t kArgsKept = 1024;
  static constexpr std::size_t kInlineBytesKept = 4096;

  explicit RequestParser(const RequestLimits& limits = {}) : limits_(limits) {}

  // For the requests to come. REQUIRES that none is half read (or reset()).
  void set_limits(const RequestLimits& limits) { limits_ = limits; }

  ParseStatus parse(std::string_view bytes);
  // No request is half read: the next byte is the first of one.
  bool at_start() const { return state_ == State::kStart; }
  template <std::same_as<std::string> Dying>
  ParseStatus parse(Dying&& bytes) = delete;  // args() would be views of what is gone

  // After kRequest and kOversized; views into the last parse()'s bytes. Empty for "\r\n", "*0\r\n"
  // and any "*-n\r\n", which Redis skips in silence.
  const std::vector<std::string_view>& args() const { return args_; }

  // After kRequest: how many of the bytes the request took. The caller drops them, then parses on.
  std::size_t size() const { return size_; }

  // True if the request came as an inline command ("GET k\r\n"): args() are then views of an
  // unquoted copy inside the parser, and the raw bytes cannot be forwarded as they are.
  bool is_inline() const { return inline_; }

  // After kOversized: walks over the raw bytes of the very same request, from its first byte on, in
  // pieces of any size, so that they can be passed through. `consumed` is how many of `bytes`
  // belong to the request; kRequest when it has ended (and the parser is ready for the next one),
  // kNeedMore while it has not, kError if its framing breaks. An inline request is never oversized.
  ParseStatus stream(std::string_view bytes, std::size_t& consumed);

  // After kError: without the leading '-' and the CRLF, e.g. "ERR Protocol error: invalid bulk
  // length".
  std::string_view error() const { return error_; }

  // Forgets a half-read request.
  void reset();

 private:
  static constexpr std::int64_t kPlainArgsMax = 32;

  enum class State : std::uint8_t {
    kStart,
    kInline,
    kCount,
    kBulkLine,
    kBulkBody,
    kStream,
    kBroken
  };
  using Stop = std::optional<ParseStatus>;  // nothing: go on with what comes next
  struct Span {
    std::size_t begin;
    std::size_t size;
  };

  void begin(char first_byte);
  bool parse_plain(std::string_view bytes);
  ParseStatus parse_inline(std::string_view bytes);
  ParseStatus parse_multibulk(std::string_view bytes);
  Stop read_count(std::string_view bytes);
  Stop read_bulk_length(std::string_view bytes);
  bool read_quick(std::string_view bytes, char type, std::int64_t max, std::int64_t& number);
  Stop read_line(std::string_view bytes, std::string_view too_long, std::string_view& line);
  std::size_t find_line_end(std::string_view bytes, char terminator);
  ParseStatus finish(std::string_view bytes, ParseStatus status);
  ParseStatus fail(std::string_view error);
  ParseStatus broken();

  RequestLimits limits_;
  State state_ = State::kStart;
  bool inline_ = false;
  std::size_t element_ = 0;     // where the line or argument now being read begins
  std::size_t scanned_ = 0;     // bytes before it hold no end of the current line
  std::int64_t args_left_ = 0;  // arguments still to come
  std::size_t bulk_bytes_ = 0;  // of the argument now being read
  std::size_t size_ = 0;
  std::vector<Span> spans_;  // the arguments as offsets, which outlive a move of the bytes
  std::vector<std::string_view> args_;
  std::string inline_text_;
  std::string error_;
  RequestStream stream_;
};

}  // namespace heatsink::resp
