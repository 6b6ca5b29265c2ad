// SPDX-License-Identifier: Apache-2.0
// Identifies the read that a copy answers: a command and its arguments, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace heatsink::cache {

// A read as a client sends it; views the request. The caller defines the command numbers; this room
// only compares them.
struct Read {
  std::uint16_t command = 0;
  std::span<const std::string_view> arguments = {};  // after the key
};

// A read as a copy stores it: the arguments in one block, each after its length, so that "1" "23"
// and "12" "3" differ. Copies of this object share the block. REQUIRES at most 65535 arguments, and
// less than 4 GiB in total.
class StoredRead {
 public:
  StoredRead() = default;
  explicit StoredRead(const Read& read);

  std::uint16_t command() const noexcept { return command_; }
  std::size_t bytes() const noexcept { return bytes_; }

  // Does not allocate; without arguments it makes two comparisons.
  bool is(const Read& read) const noexcept {
    if (command_ != read.command || count_ != read.arguments.size()) return false;
    return count_ == 0 || has(read.arguments);
  }
  friend bool operator==(const StoredRead& a, const StoredRead& b) noexcept {
    return a.command_ == b.command_ && a.count_ == b.count_ && a.packed() == b.packed();
  }

  // Calls `visit` with each argument in order.
  template <class Visit>
  void for_each_argument(Visit visit) const {
    for (std::string_view rest = packed(); !rest.empty();) visit(take(rest));
  }

 private:
  std::string_view packed() const noexcept { return {arguments_.get(), bytes_}; }
  // takes one argument from the front
  static std::string_view take(std::string_view& rest) noexcept;
  bool has(std::span<const std::string_view> arguments) const noexcept;

  std::uint16_t command_ = 0;
  std::uint16_t count_ = 0;
  std::uint32_t bytes_ = 0;
  std::shared_ptr<const char[]> arguments_;
};

}  // namespace heatsink::cache
