// SPDX-License-Identifier: Apache-2.0
// Numbers for the names of commands: the same name keeps its number when the server's table
// changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heatsink::proxy {

// Of one worker; not thread-safe. Grows with the names that were used, which the tables bound.
class CommandNumbers {
 public:
  static constexpr std::size_t kCommandsMax = 16'384;

  // `name` as the table has it: "get", "client|id". A name too many gets the number of the last.
  std::uint16_t number(std::string_view name);
  std::string name(std::uint16_t number) const;  // "GET", "CLIENT ID"; "others" for the last

 private:
  std::unordered_map<std::string, std::uint16_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace heatsink::proxy
