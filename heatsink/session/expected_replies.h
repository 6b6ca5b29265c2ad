// SPDX-License-Identifier: Apache-2.0
// Estimates how long the replies to a client's requests will be, and counts the bytes that the
// client is owed, so that a long reply does not hold up other clients.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/command/reply_sizes.h"
#include "heatsink/command/request.h"
#include "heatsink/session/session_host.h"
#include "heatsink/upstream/big_replies.h"

namespace heatsink::proxy {

// One per client; the worker's thread. A plain value: it moves with its client. O(1) for each
// request, and a table look-up for each key of an MGET, up to 256. 32 bytes.
class ExpectedReplies {
 public:
  // So many bytes of replies one client, or all together, may be owed on a shared connection before
  // big replies go elsewhere: about a millisecond.
  static constexpr std::uint64_t kOwedMax = 1024 * 1024;

  // Sets Request::expected, from earlier replies to this command, and to this client. A wrong
  // estimate only chooses the slower connection. `db`: the client's.
  void expect(Request& request, const SessionParts& parts, std::uint32_t db) const {
    const bool reads = request.command != nullptr && request.command->has(resp::kReadonly);
    const ReplyGuess& guess = reads ? reads_ : others_;
    const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        std::max<std::uint64_t>(guess.known(), known_size(request, parts, db)), UINT32_MAX));
    request.expected = {known, std::max(known, guess.bytes())};
  }
  // As far as earlier replies to the same command for the same keys say; 0: unknown.
  static std::uint64_t known_size(const Request& request, const SessionParts& parts,
                                  std::uint32_t db) {
    const bool may_know =
        !parts.big_replies.empty() && request.command != nullptr && request.command->first_key > 0;
    return may_know ? size_of_keys(request, parts, db) : 0;
  }
  // After expect(). Even a short reply may wait until the client's earlier replies have come. A
  // client that pipelines would wait for each long reply in turn. `shared`: called for the shared
  // connection, or null, if the reply is long.
  template <class Shared>
  static bool is_too_long_to_share(const Request& request, std::uint64_t long_for_client,
                                   Shared shared) {
    if (request.expected.known < BigReplies::kBigBytes) return false;
    if (!request.is_last || request.expected.known > long_for_client) return true;
    const Upstream* const connection = shared();
    return connection != nullptr && connection->owed() + request.expected.known > kOwedMax;
  }

  void record(bool read_only, std::uint64_t bytes) { (read_only ? reads_ : others_).record(bytes); }
  // Each request in flight counts with its Pending::expected.
  void sent(std::uint32_t expected) { owed_ += expected; }
  void ended(std::uint32_t expected) { owed_ -= expected; }
  bool owes_too_much() const { return owed_ >= kOwedMax; }

 private:
  static std::uint64_t size_of_keys(const Request& request, const SessionParts& parts,
                                    std::uint32_t db);

  // At first one read may be in flight, later 128 short ones; more of other commands.
  ReplyGuess reads_{1024 * 1024, 8 * 1024}, others_{8 * 1024, 512};
  std::uint64_t owed_ = 0;
};

}  // namespace heatsink::proxy
