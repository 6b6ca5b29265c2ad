// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/request_parser.h"

#include <algorithm>
#include <cassert>

#include "heatsink/resp/decimal.h"
#include "heatsink/resp/inline_request.h"

namespace heatsink::resp {

ParseStatus RequestParser::parse(std::string_view bytes) {
  assert(state_ != State::kStream);
  if (state_ == State::kBroken) return ParseStatus::kError;
  if (state_ == State::kStart) {
    if (bytes.empty()) return ParseStatus::kNeedMore;
    if (spans_.capacity() > kArgsKept) std::vector<Span>().swap(spans_);
    if (args_.capacity() > kArgsKept) std::vector<std::string_view>().swap(args_);
    if (bytes[0] == '*' && parse_plain(bytes)) return ParseStatus::kRequest;
    begin(bytes[0]);
  }
  return inline_ ? parse_inline(bytes) : parse_multibulk(bytes);
}

ParseStatus RequestParser::stream(std::string_view bytes, std::size_t& consumed) {
  assert(state_ == State::kStream);
  const ParseStatus status = stream_.walk(bytes, limits_, consumed, error_);
  if (status == ParseStatus::kRequest) state_ = State::kStart;
  if (status == ParseStatus::kError) state_ = State::kBroken;
  return status;
}

void RequestParser::reset() {
  state_ = State::kStart;
  args_.clear();
  error_.clear();
  stream_.reset();
}

void RequestParser::shrink() {
  if (!at_start()) return;
  std::vector<std::string_view>().swap(args_);
  std::vector<Span>().swap(spans_);
  std::string().swap(inline_text_);
}

void RequestParser::begin(char first_byte) {
  inline_ = first_byte != '*';
  state_ = inline_ ? State::kInline : State::kCount;
  element_ = scanned_ = 0;
  spans_.clear();
}

// The fast path: a small, complete request with nothing unusual, in one pass without state.
// Anything else returns false and takes the slow path, which starts again; so it is tried only for
// a few arguments, and once per request.
bool RequestParser::parse_plain(std::string_view bytes) {
  const char* at = bytes.data() + 1;
  const char* const end = bytes.data() + bytes.size();
  const std::int64_t count = quick_length(at, end);
  if (count <= 0 || count > kPlainArgsMax || count > limits_.args_max) return false;
  args_.resize(static_cast<std::size_t>(count));
  for (std::string_view& arg : args_) {
    if (at == end || *at++ != '$') return false;
    const std::int64_t length = quick_length(at, end);
    if (length < 0 || length > limits_.argument_bytes_max || end - at < length + 2) return false;
    arg = std::string_view(at, static_cast<std::size_t>(length));
    at += length + 2;
  }
  size_ = static_cast<std::size_t>(at - bytes.data());
  if (size_ > limits_.buffered_bytes_max || args_.size() > limits_.buffered_args_max) return false;
  inline_ = false;
  return true;
}

ParseStatus RequestParser::parse_inline(std::string_view bytes) {
  std::size_t end = find_line_end(bytes, '\n');
  if (end == std::string_view::npos) {
    return bytes.size() > limits_.line_bytes_max ? fail(kInlineTooLong) : ParseStatus::kNeedMore;
  }
  size_ = end + 1;
  if (inline_text_.capacity() > kInlineBytesKept) std::string().swap(inline_text_);
  if (end > 0 && bytes[end - 1] == '\r') --end;
  if (!split_inline(bytes.substr(0, end), inline_text_, args_)) return fail(kUnbalancedQuotes);
  state_ = State::kStart;
  return ParseStatus::kRequest;
}

ParseStatus RequestParser::parse_multibulk(std::string_view bytes) {
  if (state_ == State::kCount) {
    if (const Stop stop = read_count(bytes)) return *stop;
    if (args_left_ <= 0) return finish(bytes, ParseStatus::kRequest);
  }
  while (true) {
    if (state_ == State::kBulkLine) {
      if (const Stop stop = read_bulk_length(bytes)) return *stop;
    }
    // Skips the two bytes after an argument without checking them, as the server does.
    if (bytes.size() - element_ < bulk_bytes_ + 2) return ParseStatus::kNeedMore;
    spans_.push_back({element_, bulk_bytes_});
    element_ = scanned_ = element_ + bulk_bytes_ + 2;
    if (--args_left_ == 0) return finish(bytes, ParseStatus::kRequest);
    if (spans_.size() >= limits_.buffered_args_max) return finish(bytes, ParseStatus::kOversized);
    state_ = State::kBulkLine;
  }
}

RequestParser::Stop RequestParser::read_count(std::string_view bytes) {
  if (!read_quick(bytes, '*', limits_.args_max, args_left_)) {
    std::string_view line;
    if (const Stop stop = read_line(bytes, kCountLineTooLong, line)) return stop;
    const std::optional<std::int64_t> count = read_count_line(line, limits_, error_);
    if (!count) return broken();
    args_left_ = *count;
  }
  state_ = State::kBulkLine;
  return std::nullopt;
}

RequestParser::Stop RequestParser::read_bulk_length(std::string_view bytes) {
  std::int64_t length = 0;
  if (!read_quick(bytes, '$', limits_.argument_bytes_max, length)) {
    std::string_view line;
    if (const Stop stop = read_line(bytes, kBulkLineTooLong, line)) return stop;
    const std::optional<std::int64_t> read = read_bulk_line(line, limits_, error_);
    if (!read) return broken();
    length = *read;
  }
  bulk_bytes_ = static_cast<std::size_t>(length);
  state_ = State::kBulkBody;
  if (element_ + bulk_bytes_ + 2 > limits_.buffered_bytes_max)
    return finish(bytes, ParseStatus::kOversized);
  return std::nullopt;
}

// Reads a header line that is short, plain, valid and complete. False says nothing about other
// lines.
bool RequestParser::read_quick(std::string_view bytes, char type, std::int64_t max,
                               std::int64_t& number) {
  if (scanned_ != element_ || bytes.size() == element_ || bytes[element_] != type) return false;
  const char* at = bytes.data() + element_ + 1;
  const std::int64_t n = quick_length(at, bytes.data() + bytes.size());
  if (n < 0 || n > max) return false;
  number = n;
  element_ = scanned_ = static_cast<std::size_t>(at - bytes.data());
  return true;
}

// Moves after the line and the byte after its CR, whatever it is: the server does not check it
// either.
RequestParser::Stop RequestParser::read_line(std::string_view bytes, std::string_view too_long,
                                             std::string_view& line) {
  const std::size_t end = find_line_end(bytes, '\r');
  if (end == std::string_view::npos) {
    if (bytes.size() - element_ > limits_.line_bytes_max) return fail(too_long);
    return ParseStatus::kNeedMore;
  }
  if (end + 1 == bytes.size()) return ParseStatus::kNeedMore;
  line = bytes.substr(element_, end - element_);
  element_ = scanned_ = end + 2;
  return std::nullopt;
}

// The position of `terminator` in the line that begins at element_, if it comes before a NUL (the
// server uses strchr) and within line_bytes_max; else npos. Continues where the last call stopped.
std::size_t RequestParser::find_line_end(std::string_view bytes, char terminator) {
  const std::string_view line = bytes.substr(0, element_ + limits_.line_bytes_max + 1);
  if (scanned_ < line.size() && line[scanned_] == '\0') return std::string_view::npos;
  const std::size_t end = line.find(terminator, scanned_);
  const std::size_t nul = line.substr(0, end).find('\0', scanned_);
  scanned_ = std::min({end, nul, line.size()});
  return nul == std::string_view::npos ? end : std::string_view::npos;
}

ParseStatus RequestParser::finish(std::string_view bytes, ParseStatus status) {
  args_.resize(spans_.size());
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    args_[i] = std::string_view(bytes.data() + spans_[i].begin, spans_[i].size);
  }
  size_ = element_;
  state_ = status == ParseStatus::kRequest ? State::kStart : State::kStream;
  return status;
}

ParseStatus RequestParser::fail(std::string_view error) {
  error_ = error;
  return broken();
}

ParseStatus RequestParser::broken() {
  state_ = State::kBroken;
  return ParseStatus::kError;
}

}  // namespace heatsink::resp
