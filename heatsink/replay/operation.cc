// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/operation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "heatsink/resp/resp.h"

namespace heatsink::replay {
namespace {

constexpr std::size_t kWordBytesMax = 64;
constexpr std::array<std::string_view, 9> kOtherWrites{"write",   "put", "update",  "remove", "add",
                                                       "replace", "cas", "prepend", "delete"};

char lower_case(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

bool is_copied_read(std::string_view command) {
  return std::equal(command.begin(), command.end(), kCopiedRead.begin(), kCopiedRead.end(),
                    [](char a, char b) { return lower_case(a) == lower_case(b); });
}

std::optional<Operation> operation_named(std::string_view word) {
  if (is_copied_read(word)) return Operation::kGet;  // in nearly all lines
  if (word.size() > kWordBytesMax) return std::nullopt;
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(), lower_case);
  if (lower == "read" || lower == "gets") return Operation::kGet;
  if (std::find(kOtherWrites.begin(), kOtherWrites.end(), lower) != kOtherWrites.end())
    return Operation::kWrite;
  const resp::Command* command = resp::CommandTable::built_in().find_name(lower);
  if (command == nullptr) return std::nullopt;
  if (command->has(resp::kWrite)) return Operation::kWrite;
  return Operation::kRead;
}

}  // namespace heatsink::replay
