// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/request_head.h"

#include <array>
#include <cstdint>

namespace heatsink::capture {
namespace {

constexpr std::size_t kDigitsMax = 7;
constexpr std::size_t kNameBytesMax = 32;

struct Number {
  Head head = Head::kNo;
  std::size_t value = 0;
};

// Parses "<type><digits>\r\n" and removes it from the front.
Number take_number(std::string_view& bytes, char type) {
  if (bytes.empty()) return {Head::kMaybe, 0};
  if (bytes[0] != type) return {};
  std::size_t value = 0;
  std::size_t at = 1;
  for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9'; ++at) {
    if (at > kDigitsMax) return {};
    value = value * 10 + static_cast<std::size_t>(bytes[at] - '0');
  }
  if (at == bytes.size()) return {Head::kMaybe, 0};
  if (at == 1 || bytes[1] == '0' || bytes[at] != '\r') return {};
  if (at + 1 == bytes.size()) return {Head::kMaybe, 0};
  if (bytes[at + 1] != '\n') return {};
  bytes.remove_prefix(at + 2);
  return {Head::kYes, value};
}

}  // namespace

bool takes(const resp::Command& command, std::size_t args) {
  const auto count = static_cast<std::int64_t>(args);
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
}

Head request_head(std::string_view bytes, const resp::CommandTable& table) {
  const Number count = take_number(bytes, '*');
  if (count.head != Head::kYes) return count.head;
  const Number length = take_number(bytes, '$');
  if (length.head != Head::kYes) return length.head;
  if (length.value > kNameBytesMax) return Head::kNo;
  if (bytes.size() < length.value + 2) return Head::kMaybe;
  if (bytes.substr(length.value, 2) != "\r\n") return Head::kNo;
  const std::array<std::string_view, 1> name{bytes.substr(0, length.value)};
  const resp::Command* command = table.find(name);
  if (command == nullptr) return Head::kNo;
  // The number of arguments depends on the subcommand, which is checked when the whole request is
  // there.
  return command->is_container || takes(*command, count.value) ? Head::kYes : Head::kNo;
}

}  // namespace heatsink::capture
