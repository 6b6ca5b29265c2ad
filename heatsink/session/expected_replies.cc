// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/expected_replies.h"

#include "heatsink/base/hash_inline.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kSizedKeysMax = 256;  // an MGET is judged by its first keys

}  // namespace

std::uint64_t ExpectedReplies::size_of_keys(const Request& request, const SessionParts& parts,
                                            std::uint32_t db) {
  const auto first = static_cast<std::size_t>(request.command->first_key);
  if (request.args().size() <= first) return 0;
  const auto size_of = [&](std::uint16_t command, std::size_t arg) -> std::uint64_t {
    return parts.big_replies.expect(
        BigReplies::hash(command, in_db(request.name_hash(arg, parts.shared.seed), db)));
  };
  const std::uint64_t whole = size_of(request.facts->sized_as, first);
  if (request.facts->sized_as != parts.commands.mget_sized_as()) return whole;
  std::uint64_t sum = 0;
  const std::size_t end = std::min(request.args().size(), first + kSizedKeysMax);
  for (std::size_t arg = first; arg < end; ++arg)
    sum += size_of(parts.commands.get_sized_as(), arg);
  return std::max(whole, sum);
}

}  // namespace heatsink::proxy
