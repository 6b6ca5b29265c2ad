// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a file or of standard input, and unpacks zstd.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "heatsink/base/result.h"

namespace heatsink::replay {

// One thread. Memory: a fixed buffer, and what a zstd frame asks for, which is limited to 128 MiB.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to out.size() bytes; 0: the end. Errors: the file cannot be read (kUnavailable), the zstd
  // data is damaged, cut off or wants too large a window (kInvalidArgument).
  virtual Result<std::size_t> read(std::span<char> out) = 0;

  // "-" is standard input. What it is packed with is seen by its first bytes: zstd is unpacked,
  // gzip refused with what to do.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
  // Of bytes in memory, unpacked likewise; they must outlive the source.
  static Result<std::unique_ptr<ByteSource>> of(std::span<const char> bytes);

  // The next `size` bytes; fewer only at the end.
  Result<std::string> take(std::size_t size);
  // `head`, and then what `rest` still has. `rest` is not owned.
  static std::unique_ptr<ByteSource> behind(std::string head, ByteSource& rest);
};

}  // namespace heatsink::replay
