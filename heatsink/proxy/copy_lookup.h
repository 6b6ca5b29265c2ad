// SPDX-License-Identifier: Apache-2.0
// Finds the local copies of the keys that a client's read names, and answers the read from them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/base/hash_inline.h"
#include "heatsink/cache/cache.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

// What the reliefs of one client that answer from copies (CopyReads, StaleReads) have in common. It
// decides nothing about staleness. One worker's thread. Copies and entries that it finds are valid
// until the worker's next turn.
class CopyLookup {
 public:
  // A key of a read that may be served locally.
  struct Key {
    std::string_view key;
    NameHash name;
    KeyHash hash;
    const cache::Entry* entry = nullptr;  // null: not hot, or touched by a command in flight
    const cache::Copy* copy = nullptr;    // null: may not be served
  };

  // Both outlive it.
  CopyLookup(const WorkerParts& parts, const ReliefContext& client)
      : parts_(parts), client_(client) {}
  CopyLookup(const CopyLookup&) = delete;

  // Whether copies could answer the request, in the state that its client is in. For each request:
  // two loads for one that is no read of this kind.
  bool applies(const Request& request) const {
    return request.facts->local != nullptr && request.has_right_arity() && may_read_copies();
  }
  bool may_read_copies() const {
    const ClientState& state = client_.state;
    return !state.in_multi_ && !state.watching_ && !state.server_knows_best_ &&
           state.user_ != ClientState::User::kNobody && client_.traffic.holds == 0 &&
           !(state.subscribed() && state.protocol_ == resp::Protocol::kResp2);
  }
  // More than one value is asked for, each of which has a copy of its own. REQUIRES applies().
  static bool is_of_many(const Request& request) {
    const copies::KeyCombination combination = request.facts->local->combination;
    return combination == copies::KeyCombination::kArray ||
           (combination == copies::KeyCombination::kSum && request.args().size() > 2);
  }
  // Of one key of such a request.
  static cache::Read read_of_one(const Request& request) {
    return {copies::read_of_each(*request.facts->local).number, {}};
  }

  Key find(std::string_view key) const {
    const NameHash name = hash_name_inline(key, parts_.shared.seed);
    const KeyHash hash = in_db(name, client_.state.db_);
    const bool in_flight = client_.traffic.touches(name);
    return {key, name, hash,
            in_flight ? nullptr : parts_.copies.find(hash, key, client_.state.db_)};
  }

  // Sets key.copy if and only if the result is kServe. REQUIRES key.entry.
  cache::Ruling judge(Key& key, const cache::Read& read, TimePoint now) const {
    const cache::ServeDecision decision =
        parts_.copies.judge(*key.entry, read, now, client_.traffic.told_at);
    key.copy = decision.copy;
    return decision.ruling;
  }

  // Other users than the proxy's own are given what the server has let them read not long ago.
  // True: this client is given these. False: the read itself must ask the server.
  bool may_read(const Request& request, std::span<const Key> keys) {
    return client_.state.user_ != ClientState::User::kOther || is_proven(request, keys);
  }
  copies::Right right_to(const Request& request, std::span<const Key> keys) const;

  // REQUIRES that each key has a copy. Does not count the hit.
  void serve(const Request& request, const Key& key) {
    const bool resp3 = client_.state.protocol_ == resp::Protocol::kResp3;
    serve(request, key, key.copy->reply_in(resp3));
  }
  void serve(const Request& request, const Key& key, std::string_view reply) {
    record_hit(*request.facts, key, reply.size());
    client_.session.serve(reply);
  }
  void serve_joined(const Request& request, std::span<const Key> keys);
  void record_hit(const CommandFacts& command, const Key& key, std::size_t bytes) {
    parts_.record({.hash = key.hash,
                   .key = key.key,
                   .db = client_.state.db_,
                   .kind = detect::AccessKind::kRead,
                   .local_hit = true,
                   .bytes = static_cast<std::uint32_t>(bytes),
                   .command = command.number,
                   .client = client_.address});
  }

 private:
  bool is_proven(const Request& request, std::span<const Key> keys);
  const WorkerParts& parts_;
  const ReliefContext& client_;
};

}  // namespace heatsink::proxy
