// SPDX-License-Identifier: Apache-2.0
// Reads and writes the numbers and strings of the wire form: LEB128 (7 bits a byte, low ones first)
// in its shortest form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heatsink::detect {

// Appends to a string that it owns.
class WireWriter {
 public:
  void number(std::uint64_t n) {
    for (; n >= 0x80; n >>= 7) bytes_.push_back(static_cast<char>(n | 0x80));
    bytes_.push_back(static_cast<char>(n));
  }
  void fixed64(std::uint64_t n) {  // 8 bytes, low ones first
    for (int i = 0; i < 8; ++i, n >>= 8) bytes_.push_back(static_cast<char>(n & 0xFF));
  }
  void byte(std::uint8_t b) { bytes_.push_back(static_cast<char>(b)); }
  void string(std::string_view text) {
    number(text.size());
    bytes_.append(text);
  }
  void raw(std::string_view text) { bytes_.append(text); }

  std::size_t size() const { return bytes_.size(); }
  void cut_back_to(std::size_t size) { bytes_.resize(size); }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads from a view, which must outlive it. The first fault is kept: all later reads give 0 or "".
// So a caller may check once at the end, but must check before it loops on a number that it read.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number(std::uint64_t at_most) {
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t b = byte();
      if (shift == 63 && b > 1) break;
      n |= (b & 0x7F) << shift;
      if ((b & 0x80) != 0) continue;
      if (shift > 0 && b == 0) break;  // a longer form of a smaller number
      return n <= at_most ? n : fail("a number is too large");
    }
    return fail("a number is malformed");
  }

  std::uint64_t fixed64() {
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) n |= std::uint64_t{byte()} << shift;
    return n;
  }

  std::uint8_t byte() {
    if (rest_.empty()) return static_cast<std::uint8_t>(fail("it is cut off"));
    const auto b = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return b;
  }

  std::string_view string(std::size_t bytes_max) {
    const std::uint64_t size = number(bytes_max);
    if (size > rest_.size()) fail("it is cut off");
    const std::string_view text = rest_.substr(0, static_cast<std::size_t>(size));
    if (!failed()) rest_.remove_prefix(text.size());
    return failed() ? std::string_view() : text;
  }

  // Returns 0, as the result for a number.
  std::uint64_t fail(const char* why) {
    if (fault_ == nullptr) fault_ = why;
    rest_ = {};
    return 0;
  }
  void require(bool holds, const char* otherwise) {
    if (!holds) fail(otherwise);
  }

  bool failed() const { return fault_ != nullptr; }
  const char* fault() const { return fault_; }  // null: none
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  const char* fault_ = nullptr;
};

}  // namespace heatsink::detect
