// SPDX-License-Identifier: Apache-2.0
// Writes and reads the fields of a message: little-endian numbers, and texts with their lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace heatsink::handover {

class Writer {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void flag(bool value) { u8(value ? 1 : 0); }
  void u32(std::uint32_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  void text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  std::string take() { return std::move(bytes_); }

 private:
  void number(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) u8(static_cast<std::uint8_t>(value >> (8U * i)));
  }

  std::string bytes_;
};

// Reads what a Writer wrote. The bytes come from another process and may be anything: after the
// first fault all further reads return zero or "", and ok() is false. Views live as long as the
// bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  bool flag() {
    const std::uint8_t value = u8();
    if (value > 1) fail();
    return value == 1;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  // At most `bytes_max` bytes.
  std::string_view text(std::size_t bytes_max) {
    const std::size_t size = u32();
    if (size > bytes_max || size > bytes_.size()) {
      fail();
      return {};
    }
    const std::string_view value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return value;
  }
  // A number of elements that each take at least one byte: at most `count_max`.
  std::size_t count(std::size_t count_max) {
    const std::size_t value = u32();
    if (value > count_max || value > bytes_.size()) fail();
    return ok_ ? value : 0;
  }

  void fail() {
    ok_ = false;
    bytes_ = {};
  }
  bool ok() const { return ok_; }
  bool ended() const { return ok_ && bytes_.empty(); }

 private:
  std::uint64_t number(std::size_t size) {
    if (bytes_.size() < size) {
      fail();
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes_[i])) << (8U * i);
    bytes_.remove_prefix(size);
    return value;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace heatsink::handover
