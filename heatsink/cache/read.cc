// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/read.h"

#include <cstring>
#include <string>

namespace heatsink::cache {
namespace {

using Length = std::uint32_t;

}  // namespace

StoredRead::StoredRead(const Read& read)
    : command_(read.command), count_(static_cast<std::uint16_t>(read.arguments.size())) {
  std::string packed;
  for (const std::string_view argument : read.arguments) {
    const auto length = static_cast<Length>(argument.size());
    packed.append(reinterpret_cast<const char*>(&length), sizeof(length));
    packed.append(argument);
  }
  if (packed.empty()) return;
  bytes_ = static_cast<std::uint32_t>(packed.size());
  const std::shared_ptr<char[]> piece = std::make_shared<char[]>(packed.size());
  std::memcpy(piece.get(), packed.data(), packed.size());
  arguments_ = piece;
}

std::string_view StoredRead::take(std::string_view& rest) noexcept {
  Length length = 0;
  // memcpy: the length may be unaligned.
  std::memcpy(&length, rest.data(), sizeof(length));
  const std::string_view argument = rest.substr(sizeof(length), length);
  rest.remove_prefix(sizeof(length) + length);
  return argument;
}

bool StoredRead::has(std::span<const std::string_view> arguments) const noexcept {
  std::string_view rest = packed();
  for (const std::string_view argument : arguments) {
    if (take(rest) != argument) return false;
  }
  return true;
}

}  // namespace heatsink::cache
