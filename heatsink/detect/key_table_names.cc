// SPDX-License-Identifier: Apache-2.0
// Stores the names of a KeyTable's keys: the beginning in the row, the end in the NamePool.
#include <cstring>

#include "heatsink/detect/key_table.h"

namespace heatsink::detect {
namespace {

constexpr int kOwnersAsked = 64;  // keys whose chunks are inspected to make room for one long name

}  // namespace

void KeyTable::store_name(std::uint32_t key, std::string_view name) noexcept {
  Details& details = details_[key];
  details.name_state = name.size() > kKeyBytesMax ? kTooLong : kWhole;
  name = name.substr(0, kKeyBytesMax);
  const std::string_view prefix = name.substr(0, sizeof(details.name));
  if (!prefix.empty()) std::memcpy(details.name, prefix.data(), prefix.size());
  details.name_size = static_cast<std::uint16_t>(prefix.size());
  const std::string_view end = name.substr(prefix.size());
  if (end.empty()) return;
  details.name_end = store_end(end, key, low(counts_[key]));
  if (details.name_end == NamePool::kNone) {
    details.name_state = kCut;
  } else {
    details.name_size = static_cast<std::uint16_t>(name.size());
  }
}

// Finds room for the end of a name, if needed from keys that are less than half as busy.
std::uint32_t KeyTable::store_end(std::string_view end, std::uint32_t owner,
                                  std::uint64_t count) noexcept {
  std::uint32_t chain = names_.store(end, owner);
  const int limit = count < 2 || !names_.ever_holds(end.size()) ? 0 : kOwnersAsked;
  for (int asked = 0; chain == NamePool::kNone && asked < limit; ++asked) {
    const std::uint32_t other = names_.next_owner();
    if (other == NamePool::kNone) continue;
    roll_key(other);
    if (low(counts_[other]) >= count / 2) continue;
    drop_end(other);
    chain = names_.store(end, owner);
  }
  return chain;
}

void KeyTable::drop_end(std::uint32_t owner) noexcept {
  Details& details = details_[owner];
  names_.release(details.name_end);
  details.name_end = NamePool::kNone;
  details.name_size = sizeof(details.name);
  details.name_state = kCut;
}

}  // namespace heatsink::detect
