// SPDX-License-Identifier: Apache-2.0
// Finds the end of each reply of a server, in RESP2 and RESP3, while its bytes stream past.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "heatsink/resp/reply_header.h"

namespace heatsink::resp {

enum class ScanStatus { kNeedMore, kReply, kError };

struct ScanStep {
  std::size_t consumed;  // bytes of the input that belong to the current element
  ScanStatus status;     // kReply: the element ended with the last consumed byte
};

// One per upstream connection; not thread-safe. O(1) memory, plus one counter per open aggregate
// (at most kDepthMax; deeper nesting is an error). Keeps no bytes: forward them as they come. An
// attribute ('|') counts as part of the element that follows it. Lengths and counts are checked,
// but never allocated.
class ReplyScanner {
 public:
  static constexpr std::size_t kDepthMax =
      8192;  // a script's reply nests until Lua's stack (8000) ends
  static constexpr std::size_t kFirstTextMax = 32;

  // Continues in the current top-level element, and never reads beyond its end. kError (bytes that
  // no server sends) is final: the connection is unreadable from then on.
  ScanStep feed(std::string_view bytes);

  // About the current element; after kReply until the next feed(), about the one that just ended:
  bool header_known() const { return header_known_; }  // type and announced are valid
  char type() const { return type_; }  // '+' '-' ':' '$' '*' '%' '~' '>' '_' ',' '#' '!' '=' '('
  // Bytes of a '$' '!' '=', elements of a '*' '~' '>' (pairs of a '%'); -1 for a null; 0 for other
  // types.
  std::int64_t announced() const { return announced_; }
  // The last bytes ended inside a line without an announced length.
  bool in_text() const { return phase_ == Phase::kText; }
  // The first string ('$' '+' '=') inside an array, set or push, as far as it has come, and at most
  // kFirstTextMax bytes of it (for '=', with its "txt:"). That suffices to distinguish "message",
  // "subscribe" and "invalidate". Valid until the next feed().
  std::string_view first_text() const { return type_ == '-' ? std::string_view() : captured(); }
  // first_text() is complete, or as long as it may get, or there is none.
  bool first_text_known() const {
    return complete_ || capture_ == Capture::kDone || captured_bytes_ == kFirstTextMax;
  }
  // The first word of an error reply, at most kFirstTextMax bytes ("MOVED", "NOAUTH"), once its
  // line is complete.
  std::string_view error_code() const {
    return type_ == '-' && complete_ ? captured() : std::string_view();
  }

 private:
  enum class Phase : std::uint8_t {
    kType,       // the first byte of an element
    kLine,       // a short line that is parsed
    kLineLf,     // the LF after it
    kText,       // a line of any length
    kBody,       // body_left_ bytes
    kBodyCr,     // the CR after them
    kElementLf,  // the LF that ends a text or a body
    kBroken,
  };
  enum class Capture : std::uint8_t { kWanted, kRunning, kDone };
  struct Frame {
    std::uint64_t left : 63;  // elements still to come
    std::uint64_t attribute : 1;
  };
  static constexpr std::uint64_t kFrameElementsMax = (std::uint64_t{1} << 63) - 1;

  void begin_reply();
  const char* read_plain(const char* at, const char* end);
  const char* step(const char* at, const char* end);
  const char* read_type(const char* at, const char* end);
  const char* read_text(const char* at, const char* end);
  const char* read_body(const char* at, const char* end);
  const char* read_element_lf(const char* at);
  void take_line_byte(char byte);
  void finish_line();
  void open_element(std::int64_t n);
  void open_body(std::uint64_t size);
  void open_aggregate(std::uint64_t elements);
  void finish_element();
  void make_header_known(std::int64_t announced);
  void start_capture();
  void capture(const char* begin, const char* end);
  void enter(Phase phase) { phase_ = phase; }
  void fail() { phase_ = Phase::kBroken; }
  std::string_view captured() const { return {captured_.data(), captured_bytes_}; }

  Phase phase_ = Phase::kType;
  bool complete_ = false;
  bool header_known_ = false;
  char type_ = 0;     // of the top-level element
  char element_ = 0;  // the type of the current element
  Capture capture_ = Capture::kWanted;
  std::uint8_t captured_bytes_ = 0;
  std::uint8_t line_bytes_ = 0;
  std::uint32_t attributes_open_ = 0;
  std::int64_t announced_ = 0;
  std::uint64_t body_left_ = 0;
  std::vector<Frame> open_;
  std::array<char, kFirstTextMax> captured_;
  std::array<char, kHeaderBytesMax> line_;
};

}  // namespace heatsink::resp
