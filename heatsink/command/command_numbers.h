// SPDX-License-Identifier: Apache-2.0
// Gives commands small numbers by name: a name keeps its number when the server's table changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heatsink::proxy {

// One per worker; not thread-safe. Its size is bounded by the names in the command tables.
class CommandNumbers {
 public:
  static constexpr std::size_t kCommandsMax = 16'384;

  // `name`: as in the command table: "get", "client|id". All names beyond the limit share the last
  // number.
  std::uint16_t number(std::string_view name);
  std::string name(std::uint16_t number) const;  // "GET", "CLIENT ID"; "others" for the last

 private:
  std::unordered_map<std::string, std::uint16_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace heatsink::proxy
