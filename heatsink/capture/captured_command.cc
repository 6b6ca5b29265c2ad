// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/captured_command.h"

#include <algorithm>
#include <limits>

namespace heatsink::capture {
namespace {

bool writes(std::span<const CapturedKey> keys) {
  return std::any_of(keys.begin(), keys.end(), [](const CapturedKey& key) { return key.write; });
}

}  // namespace

bool CapturedCommand::missed() const {
  return reply && reply->null && command != nullptr && !keys.empty() && !writes(keys);
}

std::uint64_t CapturedCommand::value_bytes() const {
  if (keys.empty()) return 0;
  if (writes(keys)) return argument_bytes / keys.size();
  return reply && !reply->error ? reply->bytes / keys.size() : 0;
}

detect::Access CapturedCommand::access(const CapturedKey& key, std::uint64_t seed) const {
  constexpr std::uint64_t kBytesMax = std::numeric_limits<std::uint32_t>::max();
  detect::Access access;
  access.hash = in_db(hash_name(key.name, seed), db);
  access.key = key.name;
  access.db = db;
  access.kind = key.write ? detect::AccessKind::kWrite : detect::AccessKind::kRead;
  access.bytes = static_cast<std::uint32_t>(std::min(value_bytes(), kBytesMax));
  return access;
}

}  // namespace heatsink::capture
