// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/byte_buffer.h"

#include <algorithm>

namespace heatsink {

void ByteBuffer::grow(std::size_t n) {
  const std::size_t content = size();
  // shifting is cheap enough, amortised
  if (begin_ >= n && begin_ >= content && capacity_ >= content + n) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, content);
  } else {
    const std::size_t wanted = std::max({std::size_t{512}, capacity_ * 2, content + n});
    std::unique_ptr<char[]> bytes(new char[wanted]);
    if (content != 0) std::memcpy(bytes.get(), bytes_.get() + begin_, content);
    bytes_ = std::move(bytes);
    capacity_ = wanted;
  }
  begin_ = 0;
  end_ = content;
}

}  // namespace heatsink
