// SPDX-License-Identifier: Apache-2.0
// Inside capture: reads a file through a buffer of fixed size.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/capture/packet_file.h"

namespace heatsink::capture {

// Not thread-safe. Grows once, to PacketFile::kBufferBytes, for the first packet that needs it.
class FileWindow {
 public:
  explicit FileWindow(ReadBytes read) : read_(std::move(read)), buffer_(kUsualBytes) {}

  // Makes `n` bytes available at the front and returns how many there are: fewer only at the end of
  // the file. Invalidates earlier views. REQUIRES n <= PacketFile::kBufferBytes.
  Result<std::size_t> have(std::size_t n) {
    if (end_ - begin_ >= n) return n;
    assert(n <= PacketFile::kBufferBytes);
    if (n > buffer_.size()) buffer_.resize(PacketFile::kBufferBytes);
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    while (end_ < n) {
      Result<std::size_t> got = read_(std::span(buffer_).subspan(end_));
      if (!got) return got.error();
      if (*got == 0) break;
      end_ += *got;
    }
    return std::min(n, end_);
  }

  // REQUIRES that have(n) returned n.
  std::string_view view(std::size_t n) const { return {buffer_.data() + begin_, n}; }
  void consume(std::size_t n) { begin_ += n; }

  // False: the file ends earlier.
  Result<bool> skip(std::size_t n) {
    while (n > 0) {
      Result<std::size_t> there = have(std::min(n, buffer_.size()));
      if (!there) return there.error();
      if (*there == 0) return false;
      consume(*there);
      n -= *there;
    }
    return true;
  }

 private:
  static constexpr std::size_t kUsualBytes = 64 * 1024;

  ReadBytes read_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Numbers in the byte order of the machine that wrote the file.
class FileNumbers {
 public:
  explicit FileNumbers(bool swapped = false) : swapped_(swapped) {}

  bool is_big_endian() const { return swapped_ == (std::endian::native == std::endian::little); }
  std::uint16_t u16(std::string_view bytes, std::size_t at) const {
    const auto value = load<std::uint16_t>(bytes, at);
    return swapped_ ? __builtin_bswap16(value) : value;
  }
  std::uint32_t u32(std::string_view bytes, std::size_t at) const {
    const auto value = load<std::uint32_t>(bytes, at);
    return swapped_ ? __builtin_bswap32(value) : value;
  }

 private:
  template <class Unsigned>
  static Unsigned load(std::string_view bytes, std::size_t at) {
    Unsigned word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
  }

  bool swapped_;
};

std::unique_ptr<PacketFile> open_pcapng(FileWindow window);
Result<std::unique_ptr<PacketFile>> open_pcap(FileWindow window);
bool is_pcap(std::string_view first_bytes);
bool is_pcapng(std::string_view first_bytes);

// The error for a file that ends inside a packet.
Error cut_off(std::uint64_t packets);

}  // namespace heatsink::capture
