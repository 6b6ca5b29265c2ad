// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/pending_commands.h"

#include <cstring>

namespace heatsink::capture {
namespace {

// capacity that an empty queue keeps; also the threshold of tidy_up()
constexpr std::size_t kRowsKept = 256;
constexpr std::size_t kNameBytesKept = 4096;
using Prefix = std::uint32_t;  // the length, doubled, and 1 for a write

std::string_view take_key(std::string_view& names, bool& write) {
  Prefix prefix = 0;
  std::memcpy(&prefix, names.data(), sizeof prefix);
  const std::string_view name = names.substr(sizeof prefix, prefix >> 1);
  names.remove_prefix(sizeof prefix + name.size());
  write = (prefix & 1) != 0;
  return name;
}

}  // namespace

bool PendingCommands::push(Row row, std::span<const CapturedKey> keys) {
  std::size_t bytes = 0;
  for (const CapturedKey& key : keys) bytes += sizeof(Prefix) + key.name.size();
  if (size() == kCommandsMax || names_.size() + bytes > kNameBytesMax) return false;
  for (const CapturedKey& key : keys) {
    const auto prefix = static_cast<Prefix>(key.name.size() << 1 | (key.write ? 1 : 0));
    names_.append({reinterpret_cast<const char*>(&prefix), sizeof prefix});
    names_.append(key.name);
  }
  row.keys = static_cast<std::uint32_t>(keys.size());
  rows_.push_back(row);
  return true;
}

void PendingCommands::front_keys(std::vector<CapturedKey>& keys) const {
  std::string_view names = names_.view();
  keys.resize(front().keys);
  for (CapturedKey& key : keys) key.name = take_key(names, key.write);
}

void PendingCommands::pop() {
  std::string_view names = names_.view();
  bool write = false;
  for (std::uint32_t i = 0; i < front().keys; ++i) (void)take_key(names, write);
  names_.consume(names_.size() - names.size());
  ++first_;
  tidy_up();
}

// Removes answered rows when they are more than half of the vector, so the cost per row is
// amortised O(1).
void PendingCommands::tidy_up() {
  if (empty()) {
    rows_.clear();
    first_ = 0;
    if (rows_.capacity() > kRowsKept) std::vector<Row>().swap(rows_);
    if (names_.capacity() > kNameBytesKept) names_.release();
  } else if (first_ > kRowsKept && first_ * 2 > rows_.size()) {
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

}  // namespace heatsink::capture
