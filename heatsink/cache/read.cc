// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/read.h"

#include <cstring>

namespace heatsink::cache {
namespace {

using Length = std::uint32_t;

}  // namespace

StoredRead::StoredRead(const Read& read) : command_(read.command), count_(read.arguments.size()) {
  for (const std::string_view argument : read.arguments) {
    const auto length = static_cast<Length>(argument.size());
    arguments_.append(reinterpret_cast<const char*>(&length), sizeof(length));
    arguments_.append(argument);
  }
}

std::string_view StoredRead::take(std::string_view& rest) noexcept {
  Length length = 0;
  std::memcpy(&length, rest.data(), sizeof(length));
  const std::string_view argument = rest.substr(sizeof(length), length);
  rest.remove_prefix(sizeof(length) + length);
  return argument;
}

bool StoredRead::has(std::span<const std::string_view> arguments) const noexcept {
  std::string_view rest = arguments_;
  for (const std::string_view argument : arguments) {
    if (take(rest) != argument) return false;
  }
  return true;
}

}  // namespace heatsink::cache
