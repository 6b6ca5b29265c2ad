// SPDX-License-Identifier: Apache-2.0
// Reads packets from capture files: pcap (both byte orders, micro- and nanoseconds) and pcapng.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/capture/packet.h"

namespace heatsink::capture {

// Reads up to out.size() bytes of the file; 0 at its end.
using ReadBytes = std::function<Result<std::size_t>(std::span<char> out)>;

// Not thread-safe. Memory: at most kBufferBytes, whatever sizes the file announces.
class PacketFile {
 public:
  static constexpr std::size_t kMagicBytes = 4;
  static constexpr std::size_t kPacketBytesMax = 1 << 20;  // a longer packet is an error
  static constexpr std::size_t kBufferBytes = 2 * kPacketBytesMax;

  // True if a file that begins with these bytes is a capture file.
  static bool recognises(std::string_view first_bytes);

  // Errors: those of `read`; kInvalidArgument if it is not a capture file.
  static Result<std::unique_ptr<PacketFile>> open(ReadBytes read);

  virtual ~PacketFile() = default;

  // Reads the next packet, valid until the next call; false at the end. An error (kInvalidArgument:
  // the file is cut off or damaged) is final; earlier packets remain good.
  virtual Result<bool> next(Packet& packet) = 0;
};

}  // namespace heatsink::capture
