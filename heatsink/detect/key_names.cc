// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_names.h"

#include <algorithm>
#include <cstring>

#include "heatsink/detect/summary.h"
#include "heatsink/detect/tracked_key.h"

namespace heatsink::detect {
namespace {

constexpr int kOwnersAsked = 64;  // keys whose chunks are inspected to make room for one long name

}  // namespace

void KeyNames::store(KeyRows& rows, std::uint32_t key, std::string_view name) noexcept {
  Details& details = rows.details(key);
  details.name_state = name.size() > kKeyBytesMax ? kTooLong : kWhole;
  name = name.substr(0, kKeyBytesMax);
  const std::string_view prefix = name.substr(0, sizeof(details.name));
  if (!prefix.empty()) std::memcpy(details.name, prefix.data(), prefix.size());
  details.name_size = static_cast<std::uint16_t>(prefix.size());
  const std::string_view end = name.substr(prefix.size());
  if (end.empty()) return;
  details.name_end = store_end(rows, key, end);
  if (details.name_end == NamePool::kNone) {
    details.name_state = kCut;
  } else {
    details.name_size = static_cast<std::uint16_t>(name.size());
  }
}

// Finds room for the end of a name, if needed from keys that are less than half as busy.
std::uint32_t KeyNames::store_end(KeyRows& rows, std::uint32_t key, std::string_view end) noexcept {
  const std::uint64_t count = low(rows.counts(key));
  std::uint32_t chain = ends_.store(end, key);
  const int limit = count < 2 || !ends_.ever_holds(end.size()) ? 0 : kOwnersAsked;
  for (int asked = 0; chain == NamePool::kNone && asked < limit; ++asked) {
    const std::uint32_t other = ends_.next_owner();
    if (other == NamePool::kNone) continue;
    rows.roll(other);
    if (low(rows.counts(other)) >= count / 2) continue;
    cut(rows.details(other));
    chain = ends_.store(end, key);
  }
  return chain;
}

void KeyNames::cut(Details& details) noexcept {
  ends_.release(details.name_end);
  details.name_end = NamePool::kNone;
  details.name_size = sizeof(details.name);
  details.name_state = kCut;
}

std::string KeyNames::name_of(const Details& details) const {
  const std::size_t prefix = std::min<std::size_t>(details.name_size, sizeof(details.name));
  std::string out;
  out.reserve(details.name_size);
  out.assign(details.name, prefix);
  if (details.name_end != NamePool::kNone)
    ends_.append_to(out, details.name_end, details.name_size - prefix);
  return out;
}

}  // namespace heatsink::detect
