// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/request_stream.h"

#include <algorithm>
#include <optional>

namespace heatsink::resp {

ParseStatus RequestStream::walk(std::string_view bytes, const RequestLimits& limits,
                                std::size_t& consumed, std::string& error) {
  consumed = 0;
  while (consumed < bytes.size()) {
    if (body_left_ > 0) {
      const std::uint64_t step = std::min<std::uint64_t>(body_left_, bytes.size() - consumed);
      consumed += step;
      body_left_ -= step;
      if (body_left_ == 0) --args_left_;
    } else if (const Line line = take(bytes[consumed++], limits.line_bytes_max);
               line != Line::kOpen) {
      if (line == Line::kTooLong) error = args_left_ < 0 ? kCountLineTooLong : kBulkLineTooLong;
      if (line == Line::kTooLong || !read_header(limits, error)) return ParseStatus::kError;
    }
    if (args_left_ == 0) {
      reset();
      return ParseStatus::kRequest;
    }
  }
  return ParseStatus::kNeedMore;
}

RequestStream::Line RequestStream::take(char byte, std::size_t line_bytes_max) {
  if (line_ended_) return Line::kWhole;
  if (byte == '\r' && !line_stuck_) {
    line_ended_ = true;
    return Line::kOpen;
  }
  if (byte == '\0') line_stuck_ = true;
  if (line_bytes_ < line_.size()) line_[line_bytes_] = byte;
  return ++line_bytes_ > line_bytes_max ? Line::kTooLong : Line::kOpen;
}

bool RequestStream::read_header(const RequestLimits& limits, std::string& error) {
  const std::string_view line(line_.data(), std::min(line_bytes_, line_.size()));
  const auto read = args_left_ < 0 ? read_count_line : read_bulk_line;
  const std::optional<std::int64_t> number = read(line, limits, error);
  if (!number) return false;
  if (args_left_ < 0) {
    args_left_ = std::max<std::int64_t>(*number, 0);
  } else {
    body_left_ = static_cast<std::uint64_t>(*number) + 2;
  }
  line_bytes_ = 0;
  line_ended_ = false;
  return true;
}

}  // namespace heatsink::resp
