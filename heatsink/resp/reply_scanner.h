// SPDX-License-Identifier: Apache-2.0
// Finds where each reply of a server ends, in RESP2 and RESP3, while the bytes stream past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::resp {

enum class ScanStatus { kNeedMore, kReply, kError };

struct ScanStep {
  std::size_t consumed;  // bytes of the input that belong to the element now being read
  ScanStatus status;     // kReply: the element ended with the last consumed byte
};

// One per upstream connection; not thread-safe; O(1) memory but for one counter per open aggregate
// (at most kDepthMax; deeper is an error). Keeps no bytes: they can be forwarded as they come. An
// attribute ('|') counts as part of the element that follows it. Lengths and counts are checked as
// numbers, never allocated.
class ReplyScanner {
 public:
  static constexpr std::size_t kDepthMax = 1024;
  static constexpr std::size_t kFirstTextMax = 32;

  // Reads on in the current top-level element, and never past its end.
  ScanStep feed(std::string_view bytes);

  // Of the current element, and after kReply until the next feed(), of the one that just ended:
  bool header_known() const { return header_known_; }  // type and announced can be asked
  char type() const { return type_; }                  // '+' '-' ':' '$' '*' '%' '~' '>' '_' ',' '#' '!' '=' '('
  // Bytes of a '$' '!' '=', elements of a '*' '~' '>' (pairs of a '%'); -1 for a null; 0 for other types.
  std::int64_t announced() const { return announced_; }
  // The first string ('$' '+' '=') inside an array, set or push, as far as it has come and at most
  // kFirstTextMax bytes of it: enough to tell "message" from "subscribe" from "invalidate".
  std::string_view first_text() const { return first_text_; }
  // An error reply's first word, at most kFirstTextMax bytes ("MOVED", "NOAUTH"), once its line is complete.
  std::string_view error_code() const { return type_ == '-' ? std::string_view(first_text_) : std::string_view(); }

 private:
  bool header_known_ = false;
  char type_ = 0;
  std::int64_t announced_ = 0;
  std::string first_text_;
  // (state of the implementation follows)
};

}  // namespace heatsink::resp
