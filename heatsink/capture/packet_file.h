// SPDX-License-Identifier: Apache-2.0
// Reads the packets of a capture file: pcap (both byte orders, micro- and nanoseconds) and pcapng.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/capture/packet.h"

namespace heatsink::capture {

// Up to out.size() bytes of the file; 0: its end.
using ReadBytes = std::function<Result<std::size_t>(std::span<char> out)>;

// Not thread-safe. Memory: at most kBufferBytes, whatever the file announces.
class PacketFile {
 public:
  static constexpr std::size_t kMagicBytes = 4;
  static constexpr std::size_t kPacketBytesMax = 1 << 20;  // a longer one is an error
  static constexpr std::size_t kBufferBytes = 2 * kPacketBytesMax;

  // True if a file that begins with these bytes is for this class.
  static bool recognises(std::string_view first_bytes);

  // Errors: of `read`; kInvalidArgument for what is no capture file.
  static Result<std::unique_ptr<PacketFile>> open(ReadBytes read);

  virtual ~PacketFile() = default;

  // The next packet, whose bytes live until the next call; false at the end. An error (the file is
  // cut off or damaged: kInvalidArgument) is final; the packets before it stand.
  virtual Result<bool> next(Packet& packet) = 0;
};

}  // namespace heatsink::capture
