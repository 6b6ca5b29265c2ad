// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/reply_scanner.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "heatsink/resp/decimal.h"

namespace heatsink::resp {

ScanStep ReplyScanner::feed(std::string_view bytes) {
  if (complete_) begin_reply();
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  if (phase_ == Phase::kType && open_.empty()) at = read_plain(at, end);
  while (at != end && !complete_ && phase_ != Phase::kBroken) at = step(at, end);
  const auto consumed = static_cast<std::size_t>(at - bytes.data());
  if (phase_ == Phase::kBroken) return {consumed, ScanStatus::kError};
  return {consumed, complete_ ? ScanStatus::kReply : ScanStatus::kNeedMore};
}

void ReplyScanner::begin_reply() {
  complete_ = false;
  header_known_ = false;
  type_ = 0;
  announced_ = 0;
  capture_ = Capture::kWanted;
  captured_bytes_ = 0;
}

// The fast path: a complete string, integer or "+OK" as the whole reply. Returns its end, or `at`
// for anything else, which takes the slow path.
const char* ReplyScanner::read_plain(const char* at, const char* end) {
  constexpr std::string_view kOk = "+OK\r\n";
  if (end - at < 4) return at;
  const char* after = at + 1;
  std::int64_t bytes = 0;
  if (*at == '$' || *at == ':') {
    const std::int64_t n = quick_length(after, end);
    if (n < 0 || after[-1] != '\n') return at;
    if (*at == '$') {
      if (end - after < n + 2 || after[n] != '\r' || after[n + 1] != '\n') return at;
      bytes = n;
      after += n + 2;
    }
  } else if (std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(kOk)) {
    after = at + kOk.size();
  } else {
    return at;
  }
  element_ = *at;
  make_header_known(bytes);
  complete_ = true;
  return after;
}

// Advances in the current phase by at least a byte, or to the next phase. REQUIRES at != end.
const char* ReplyScanner::step(const char* at, const char* end) {
  switch (phase_) {
    case Phase::kType:
      return read_type(at, end);
    case Phase::kText:
      return read_text(at, end);
    case Phase::kBody:
      return read_body(at, end);
    case Phase::kLine:
      take_line_byte(*at);
      break;
    case Phase::kLineLf:
      *at == '\n' ? finish_line() : fail();
      break;
    case Phase::kBodyCr:
      *at == '\r' ? enter(Phase::kElementLf) : fail();
      break;
    case Phase::kElementLf:
      return read_element_lf(at);
    case Phase::kBroken:
      break;
  }
  return at + 1;
}

// Reads the type and, if the line is complete and plain, the rest of the header line.
const char* ReplyScanner::read_type(const char* at, const char* end) {
  element_ = *at++;
  const Shape shape = shape_of(element_);
  if (shape == Shape::kInvalid) {
    fail();
    return at;
  }
  if (shape == Shape::kText) {
    make_header_known(0);
    start_capture();
    enter(Phase::kText);
    return at;
  }
  const bool numbered = element_ != '_' && element_ != '#';
  if (const std::int64_t n = numbered ? quick_length(at, end) : -1; n >= 0) {
    at[-1] == '\n' ? open_element(n) : fail();
  } else {
    line_bytes_ = 0;
    enter(Phase::kLine);
  }
  return at;
}

const char* ReplyScanner::read_text(const char* at, const char* end) {
  const void* const found = std::memchr(at, '\r', static_cast<std::size_t>(end - at));
  const char* const cr = found != nullptr ? static_cast<const char*>(found) : end;
  capture(at, cr);
  if (cr == end) return end;
  enter(Phase::kElementLf);
  return cr + 1 == end ? end : read_element_lf(cr + 1);
}

const char* ReplyScanner::read_body(const char* at, const char* end) {
  const std::uint64_t size =
      std::min<std::uint64_t>(body_left_, static_cast<std::uint64_t>(end - at));
  const char* const stop = at + size;
  capture(at, stop);
  body_left_ -= size;
  if (body_left_ > 0) return stop;
  enter(Phase::kBodyCr);
  if (end - stop < 2 || *stop != '\r') return stop;
  return read_element_lf(stop + 1);
}

const char* ReplyScanner::read_element_lf(const char* at) {
  *at == '\n' ? finish_element() : fail();
  return at + 1;
}

void ReplyScanner::take_line_byte(char byte) {
  if (byte == '\r') return enter(Phase::kLineLf);
  if (line_bytes_ == line_.size()) return fail();
  line_[line_bytes_++] = byte;
}

void ReplyScanner::finish_line() {
  const std::string_view line(line_.data(), line_bytes_);
  if (shape_of(element_) == Shape::kScalar && !is_scalar(element_, line)) return fail();
  const std::optional<std::int64_t> number = parse_decimal(line);
  if (shape_of(element_) != Shape::kScalar && !number) return fail();
  open_element(number.value_or(0));
}

// Called at the end of a header line with its number `n`.
void ReplyScanner::open_element(std::int64_t n) {
  const Shape shape = shape_of(element_);
  if (shape == Shape::kScalar) {
    make_header_known(0);
    return finish_element();
  }
  if (!may_announce(element_, n)) return fail();
  make_header_known(n);
  if (n == -1) return finish_element();
  const auto announced = static_cast<std::uint64_t>(n);
  if (shape == Shape::kBytes) return open_body(announced);
  open_aggregate(shape == Shape::kPairs ? announced * 2 : announced);
}

void ReplyScanner::open_body(std::uint64_t size) {
  start_capture();
  body_left_ = size;
  enter(Phase::kBody);
}

void ReplyScanner::open_aggregate(std::uint64_t elements) {
  const bool attribute = element_ == '|';
  if (elements == 0) return attribute ? enter(Phase::kType) : finish_element();
  if (open_.size() == kDepthMax) return fail();
  open_.push_back({elements & kFrameElementsMax, attribute});
  attributes_open_ += attribute ? 1 : 0;
  enter(Phase::kType);
}

// Ends an element, and each aggregate whose last element it was. The end of an attribute is not the
// end of an element: the element that it describes follows.
void ReplyScanner::finish_element() {
  if (capture_ == Capture::kRunning) capture_ = Capture::kDone;
  enter(Phase::kType);
  while (!open_.empty()) {
    if (--open_.back().left > 0) return;
    const bool attribute = open_.back().attribute;
    open_.pop_back();
    if (!attribute) continue;
    --attributes_open_;
    return;
  }
  complete_ = true;
}

void ReplyScanner::make_header_known(std::int64_t announced) {
  if (!open_.empty() || element_ == '|') return;
  header_known_ = true;
  type_ = element_;
  announced_ = announced;
}

// Decides whether the string that begins here is the one for first_text() or error_code().
void ReplyScanner::start_capture() {
  if (capture_ != Capture::kWanted || attributes_open_ != 0) return;
  const bool inside = !open_.empty() && type_ != '%';
  const bool text = element_ == '$' || element_ == '+' || element_ == '=';
  if (inside ? text : open_.empty() && element_ == '-') capture_ = Capture::kRunning;
}

void ReplyScanner::capture(const char* begin, const char* end) {
  if (capture_ != Capture::kRunning) return;
  if (type_ == '-') {
    const char* const blank = std::find(begin, end, ' ');
    if (blank != end) capture_ = Capture::kDone;
    end = blank;
  }
  const auto room = static_cast<std::ptrdiff_t>(captured_.size() - captured_bytes_);
  end = begin + std::min(end - begin, room);
  std::copy(begin, end, captured_.data() + captured_bytes_);
  captured_bytes_ = static_cast<std::uint8_t>(captured_bytes_ + (end - begin));
}

}  // namespace heatsink::resp
