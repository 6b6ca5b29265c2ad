// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/line_source.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace heatsink::replay {

// False: the end of the bytes.
Result<bool> LineSource::read_more() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  Result<std::size_t> got = bytes_.read(std::span(buffer_).subspan(end_));
  if (!got) return got.error();
  end_ += *got;
  return *got > 0;
}

Result<LineSource::Line> LineSource::next() {
  std::size_t looked_at = 0;  // of the bytes from begin_ on
  for (;;) {
    const char* const from = buffer_.data() + begin_;
    const std::size_t have = end_ - begin_;
    const void* const found =
        have > looked_at ? std::memchr(from + looked_at, '\n', have - looked_at) : nullptr;
    const std::size_t length =
        found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - from) : have;
    const bool too_long = skipping_ || length > line_bytes_max_;
    if (found != nullptr) {
      begin_ += length + 1;
      skipping_ = false;
      ++number_;
      std::string_view text(from, length);
      if (text.ends_with('\r')) text.remove_suffix(1);
      return Line{too_long ? std::string_view() : text, too_long, false};
    }
    if (too_long) {
      skipping_ = true;
      begin_ = end_ = 0;
    }
    looked_at = end_ - begin_;
    Result<bool> more = read_more();
    if (!more) return more.error();
    if (*more) continue;
    if (looked_at == 0 && !skipping_) return Line{{}, false, true};
    // The last line has no line end.
    const std::string_view text(buffer_.data() + begin_, looked_at);
    begin_ = end_ = 0;
    ++number_;
    const bool cut = std::exchange(skipping_, false);
    return Line{cut ? std::string_view() : text, cut, false};
  }
}

}  // namespace heatsink::replay
