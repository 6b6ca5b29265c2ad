// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/key_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16U;

}  // namespace

KeyList::KeyList(std::string text) : text_(std::move(text)) {
  std::unordered_map<std::string_view, std::uint32_t> ranks;
  std::string_view rest = text_;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const auto [rank, is_new] = ranks.emplace(line, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(line);
    order_.push_back(rank->second);
  }
}

Result<std::shared_ptr<const KeyList>> KeyList::read(const std::string& path,
                                                     std::size_t bytes_max) {
  const std::string named = "the file of keys '" + printable(path) + "'";
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, kChunkBytes> chunk{};
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > bytes_max)
      return Error{ErrorCode::kOutOfRange,
                   named + " is longer than " + std::to_string(bytes_max) + " bytes"};
  }
  if (!file.eof())
    return Error{ErrorCode::kUnavailable,
                 named + " cannot be read: check that it exists and its permissions"};
  auto list = std::make_shared<const KeyList>(std::move(text));
  if (list->length() == 0) return invalid_argument(named + " has no key: write one per line");
  return list;
}

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
