// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a file or of standard input, and unpacks zstd.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "heatsink/base/result.h"

namespace heatsink::replay {

// One thread. Memory: a fixed buffer, and the window of a zstd frame, limited to 128 MiB.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads up to out.size() bytes; 0: the end. Errors: kUnavailable, the file cannot be read;
  // kInvalidArgument, the zstd data is damaged, cut off or needs too large a window.
  virtual Result<std::size_t> read(std::span<char> out) = 0;

  // "-" is standard input. The first bytes show the packing: zstd is unpacked; gzip is refused with
  // advice.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
  // A source of bytes in memory, unpacked in the same way; they must outlive it.
  static Result<std::unique_ptr<ByteSource>> of(std::span<const char> bytes);

  // The next `size` bytes; fewer only at the end.
  Result<std::string> take(std::size_t size);
  // A source that gives `head`, then the bytes of `rest`, which it does not own.
  static std::unique_ptr<ByteSource> behind(std::string head, ByteSource& rest);
};

}  // namespace heatsink::replay
