// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of bytes into lines, none longer than a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/replay/byte_source.h"

namespace heatsink::replay {

// MONITOR shows whole arguments; a recorded answer has up to 4096 keys of 1024 bytes, each twice
// and escaped.
inline constexpr std::size_t kLineBytesMax = 32 << 20;

// One thread. Memory: twice the longest line, at most 2 * kLineBytesMax.
class LineSource {
 public:
  explicit LineSource(ByteSource& bytes, std::size_t line_bytes_max = kLineBytesMax)
      : bytes_(bytes), line_bytes_max_(line_bytes_max), buffer_(kBlockBytes) {}

  struct Line {
    std::string_view text;  // without its end; valid until the next call
    bool too_long = false;  // over the limit: the text is left out
    bool end = false;       // there is no further line
  };
  Result<Line> next();

  std::uint64_t number() const { return number_; }  // of the last line, from 1

 private:
  static constexpr std::size_t kBlockBytes = 256 * 1024;

  Result<bool> read_more();

  ByteSource& bytes_;
  std::size_t line_bytes_max_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool skipping_ = false;  // inside a line that was too long
  std::uint64_t number_ = 0;
};

}  // namespace heatsink::replay
