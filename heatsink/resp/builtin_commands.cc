// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/builtin_commands.h"

#include <cassert>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace heatsink::resp {
namespace {

constexpr std::string_view kRows[] = {
#include "builtin_commands.inc"
};

}  // namespace

Value built_in_command_reply() {
  std::string bytes = "*" + std::to_string(std::size(kRows)) + "\r\n";
  for (const std::string_view row : kRows) bytes += row;
  Value reply;
  std::size_t consumed = 0;
  [[maybe_unused]] const ValueStatus status = parse_value(bytes, reply, consumed);
  assert(status == ValueStatus::kValue && consumed == bytes.size());
  return reply;
}

}  // namespace heatsink::resp
