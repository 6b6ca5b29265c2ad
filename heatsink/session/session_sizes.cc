// SPDX-License-Identifier: Apache-2.0
// Estimates the size of a reply from earlier replies, and chooses the connection by it.
#include <algorithm>

#include "heatsink/base/hash_inline.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kSizedKeysMax = 256;  // an MGET is judged by its first keys

}  // namespace

// Estimates from earlier replies to this command, and to this client. A wrong estimate only chooses
// the slower connection.
void Session::expect_reply(Request& request) {
  const ReplyGuess& guess =
      guess_of(request.command != nullptr && request.command->has(resp::kReadonly));
  const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      std::max<std::uint64_t>(guess.known(), known_size(request)), UINT32_MAX));
  request.expected = {known, std::max(known, guess.bytes())};
}

std::uint64_t Session::known_size(const Request& request) const {
  const BigReplies& replies = parts_.big_replies;
  if (replies.empty() || request.command == nullptr || request.command->first_key <= 0) return 0;
  const auto first = static_cast<std::size_t>(request.command->first_key);
  if (request.args().size() <= first) return 0;
  const auto size_of = [&](std::uint16_t command, std::size_t arg) -> std::uint64_t {
    return replies.expect(
        BigReplies::hash(command, in_db(request.name_hash(arg, parts_.shared.seed), db_)));
  };
  const std::uint64_t whole = size_of(request.facts->sized_as, first);
  if (request.facts->sized_as != parts_.commands.mget_sized_as()) return whole;
  std::uint64_t sum = 0;
  const std::size_t end = std::min(request.args().size(), first + kSizedKeysMax);
  for (std::size_t arg = first; arg < end; ++arg)
    sum += size_of(parts_.commands.get_sized_as(), arg);
  return std::max(whole, sum);
}

// Even a short reply may wait until the client's earlier replies have come (may_parse()). A client
// that pipelines would wait for each long reply in turn.
bool Session::is_too_long_to_share(const Request& request) const {
  if (request.expected.known < BigReplies::kBigBytes) return false;
  if (!request.is_last || request.expected.known > parts_.shared.options().stream_threshold.count)
    return true;
  const Upstream* shared = upstreams_->shared(protocol_, destination_of(request)).connection;
  return shared != nullptr && shared->owed() + request.expected.known > kOwedMax;
}

}  // namespace heatsink::proxy
