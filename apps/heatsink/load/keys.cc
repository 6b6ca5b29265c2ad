// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/keys.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace heatsink::app {
namespace {

struct KeyShape {
  std::string_view kind, field;  // kind:number:field, or without the last part
};
constexpr std::array<KeyShape, 8> kShapes{{{"product", ":price"},
                                           {"session", ""},
                                           {"user", ":profile"},
                                           {"product", ":stock"},
                                           {"cart", ""},
                                           {"page", ":html"},
                                           {"user", ":feed"},
                                           {"config", ":flags"}}};
constexpr std::uint64_t kFirstNumber = 1000;

}  // namespace

std::string key_name(std::uint64_t rank) {
  const KeyShape& shape = kShapes[rank % kShapes.size()];
  return fmt::format("{}:{}{}", shape.kind, kFirstNumber + rank, shape.field);
}

void make_value(std::string& out, std::size_t size, std::uint64_t version) {
  const std::string digits = fmt::format("{:016x}", version);
  out.clear();
  out.reserve(size);
  if (size <= digits.size()) {
    out = digits.substr(digits.size() - size);
    return;
  }
  out = digits;
  for (std::size_t i = digits.size(); i < size; ++i) out.push_back(static_cast<char>('a' + i % 26));
}

}  // namespace heatsink::app
