// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/command_numbers.h"

#include <cctype>

namespace heatsink::proxy {

std::uint16_t CommandNumbers::number(std::string_view name) {
  std::string shown(name);
  for (char& c : shown)
    c = c == '|' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (const auto found = numbers_.find(shown); found != numbers_.end()) return found->second;
  // A server with more commands is hostile or broken; the last number stands for the rest.
  if (names_.size() >= kCommandsMax) return kCommandsMax;
  const auto number = static_cast<std::uint16_t>(names_.size());
  numbers_.emplace(shown, number);
  names_.push_back(std::move(shown));
  return number;
}

std::string CommandNumbers::name(std::uint16_t number) const {
  return number < names_.size() ? names_[number] : "others";
}

}  // namespace heatsink::proxy
