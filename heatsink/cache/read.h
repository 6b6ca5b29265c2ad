// SPDX-License-Identifier: Apache-2.0
// Which question about a key a copy answers: a command and its arguments, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heatsink::cache {

// As a reader asks it; views the request. The numbers of commands are the caller's: this room only
// compares them.
struct Read {
  std::uint16_t command = 0;
  std::span<const std::string_view> arguments = {};  // behind the key
};

// As a copy keeps it: the arguments in one piece, each behind its length. "1" "23" and "12" "3"
// differ.
class StoredRead {
 public:
  StoredRead() = default;
  explicit StoredRead(const Read& read);

  std::uint16_t command() const noexcept { return command_; }
  std::size_t bytes() const noexcept { return arguments_.size(); }

  // No allocation; without arguments two comparisons.
  bool is(const Read& read) const noexcept {
    if (command_ != read.command || count_ != read.arguments.size()) return false;
    return count_ == 0 || has(read.arguments);
  }
  friend bool operator==(const StoredRead&, const StoredRead&) = default;

  // Calls `visit` with each argument in order.
  template <class Visit>
  void for_each_argument(Visit visit) const {
    for (std::string_view rest = arguments_; !rest.empty();) visit(take(rest));
  }

 private:
  static std::string_view take(std::string_view& rest) noexcept;  // one argument from the front
  bool has(std::span<const std::string_view> arguments) const noexcept;

  std::uint16_t command_ = 0;
  std::size_t count_ = 0;
  std::string arguments_;
};

}  // namespace heatsink::cache
