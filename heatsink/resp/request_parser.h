// SPDX-License-Identifier: Apache-2.0
// Finds the requests in a client's bytes: multi-bulk and inline, without copying arguments.
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

// One per client connection; not thread-safe. Copies no bytes, and allocates only when a request
// has more arguments than any before it. The protocol is `(parse* stream*)*`: parse() gets the
// unconsumed bytes from the first byte of a request on. After kNeedMore the caller may move the
// bytes: the parser keeps only offsets, and its work is linear in the bytes however they are split.
// Memory grows with the arguments that have arrived, never with an announced number. Memory above
// kArgsKept and kInlineBytesKept is freed when a later request begins.
//
// The result depends only on the bytes, not on how they were split. (Redis judges a header line
// longer than line_bytes_max by what one read() happened to bring; here it is always too long.)
// Otherwise the parser follows Redis exactly, even in reading lines as C strings: a NUL in a header
// or inline request hides the end of the line, so the parser waits until the line is too long.
class RequestParser {
 public:
  static constexpr std::size_t kArgsKept = 1024;
  static constexpr std::size_t kInlineBytesKept = 4096;

  explicit RequestParser(const RequestLimits& limits = {}) : limits_(limits) {}

  // For the next requests. REQUIRES at_start() (or call reset()).
  void set_limits(const RequestLimits& limits) { limits_ = limits; }

  ParseStatus parse(std::string_view bytes);
  // No request is half read: the next byte is the first one of a request.
  bool at_start() const { return state_ == State::kStart; }
  template <std::same_as<std::string> Dying>
  ParseStatus parse(Dying&& bytes) = delete;  // args() would be views of destroyed bytes

  // After kRequest and kOversized; views into the bytes of the last parse(). Empty for "\r\n",
  // "*0\r\n" and any "*-n\r\n", which Redis silently skips.
  const std::vector<std::string_view>& args() const { return args_; }

  // After kRequest: the size of the request. The caller drops these bytes, then calls parse()
  // again.
  std::size_t size() const { return size_; }

  // True for an inline command ("GET k\r\n"): args() are then views of an unquoted copy inside the
  // parser, and the raw bytes cannot be forwarded unchanged.
  bool is_inline() const { return inline_; }

  // After kOversized: passes over the raw bytes of this request, from its first byte on, in pieces
  // of any size, so that the caller can forward them. `consumed`: how many of `bytes` belong to the
  // request. kRequest: it has ended, and the parser is ready for the next one; kNeedMore: it has
  // not; kError: its framing is broken. An inline request is never oversized.
  ParseStatus stream(std::string_view bytes, std::size_t& consumed);

  // After kError: the message without the leading '-' and the CRLF, e.g. "ERR Protocol error:
  // invalid bulk length".
  std::string_view error() const { return error_; }

  // Forgets a half-read request.
  void reset();

  // The memory for the arguments of a request.
  std::size_t capacity_bytes() const {
    return spans_.capacity() * sizeof(Span) + args_.capacity() * sizeof(std::string_view) +
           inline_text_.capacity() + error_.capacity();
  }
  // Frees that memory between two requests: args() are gone then.
  void shrink();

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
  std::size_t element_ = 0;     // beginning of the current line or argument
  std::size_t scanned_ = 0;     // bytes before it hold no end of the current line
  std::int64_t args_left_ = 0;  // arguments still to come
  std::size_t bulk_bytes_ = 0;  // of the current argument
  std::size_t size_ = 0;
  std::vector<Span> spans_;  // the arguments as offsets, which stay valid when the bytes move
  std::vector<std::string_view> args_;
  std::string inline_text_;
  std::string error_;
  RequestStream stream_;
};

}  // namespace heatsink::resp
