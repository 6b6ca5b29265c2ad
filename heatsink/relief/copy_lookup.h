// SPDX-License-Identifier: Apache-2.0
// Finds the local copies for the keys of a client's read, and answers the read from them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/base/hash_inline.h"
#include "heatsink/cache/cache.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

// The common part of the reliefs that answer from copies (CopyReads, StaleReads), one per client.
// It decides nothing about staleness. One worker's thread. The copies and entries that it finds are
// valid until the worker's next turn.
class CopyLookup {
 public:
  // A key of a read that may be served locally.
  struct Key {
    std::string_view key;
    NameHash name;
    KeyHash hash;
    const cache::Entry* entry = nullptr;  // null: not in the table, or in flight
    const cache::Copy* copy = nullptr;    // null: no copy may be served
    bool in_flight = false;               // a command in flight touches it
    bool must_earn = false;  // its copy is over, and was not worth its fill (serve_run())
  };

  // Both outlive it.
  CopyLookup(const WorkerParts& parts, const ReliefContext& client)
      : parts_(parts), client_(client) {}
  CopyLookup(const CopyLookup&) = delete;

  // Whether copies may answer the request in the client's current state. Called for each request:
  // two loads for a request that is no such read.
  bool applies(const Request& request) const {
    return request.facts->local != nullptr && request.has_right_arity() && may_read_copies();
  }
  bool may_read_copies() const {
    const ClientState& state = client_.state;
    return !state.in_multi_ && !state.watching_ && !state.no_local_reads_ &&
           state.user_ != ClientState::User::kUnauthenticated && client_.traffic.holds == 0 &&
           !(state.subscribed() && state.protocol_ == resp::Protocol::kResp2);
  }
  // The request asks for several values, each with a copy of its own. REQUIRES applies().
  static bool is_of_many(const Request& request) {
    const copies::KeyCombination combination = request.facts->local->combination;
    return combination == copies::KeyCombination::kArray ||
           (combination == copies::KeyCombination::kSum && request.args().size() > 2);
  }
  // The read of one key of such a request.
  static cache::Read read_of_one(const Request& request) {
    return {copies::read_of_each(*request.facts->local).number, {}};
  }

  Key find(std::string_view key) const {
    Key found = hashed(key);
    found.in_flight = is_in_flight(found.name);
    if (!found.in_flight) found.entry = entry_of(found);
    return found;
  }
  bool is_in_flight(NameHash name) const { return client_.traffic.touches(name); }

  // find() in steps, so that the memory of several keys is loaded at the same time (GetsAhead).
  // Whether a command in flight touches the key is not looked at.
  Key named(std::string_view key) const {
    const Key named = hashed(key);
    parts_.copies.load(named.hash, named.name);
    return named;
  }
  void look_up(Key& key) const {
    key.entry = entry_of(key);
    if (key.entry != nullptr) {
      key.entry->load_copy();
    } else {
      parts_.copies.load_count(key.hash);
    }
  }
  static void load_reply(const Key& key) {
    if (key.entry != nullptr) key.entry->load_reply();
  }

  // Sets key.copy if and only if the result is kServe. REQUIRES key.entry.
  cache::Ruling judge(Key& key, const cache::Read& read, TimePoint now) const {
    const cache::ProofIndex node = key.entry->proof();
    const cache::ServeDecision decision =
        parts_.copies.judge(*key.entry, read, now, client_.traffic.fence(node));
    // It has just come from another node, for which the fence may be a later one.
    if (decision.copy != nullptr && decision.copy->proof != node) return cache::Ruling::kGeneration;
    key.copy = decision.copy;
    return decision.ruling;
  }

  // How often copies were refused for this reason; kServe: hits.
  static copies::Count count_of(cache::Ruling refusal);

  // Whether this client may be answered from copies of these keys. For users other than the proxy's
  // own, the server must have allowed the read recently. False: the read itself must go to the
  // server.
  bool may_read(const Request& request, std::span<const Key> keys) {
    return client_.state.user_ != ClientState::User::kOther || has_right(request, keys);
  }
  copies::Right right_to(const Request& request, std::span<const Key> keys) const;

  // These answer the request. REQUIRES that each key has a copy. The caller counts the hit.
  void serve(const Request& request, const Key& key) {
    const bool resp3 = client_.state.protocol_ == resp::Protocol::kResp3;
    serve(request, key, key.copy->reply_in(resp3));
  }
  void serve(const Request& request, const Key& key, std::string_view reply) {
    record_hit(*request.facts, key, reply.size());
    note_given(key.name, key.copy->fill_sent_at);
    client_.session.serve(reply);
  }
  // With the answer of the fill that the request has waited for: a miss.
  void serve_filled(const Request& request, const Key& key, std::string_view reply,
                    TimePoint fill_sent_at) {
    record(*request.facts, key, reply.size(), Source::kFill);
    note_given(key.name, fill_sent_at);
    client_.session.serve(reply);
  }
  void serve_joined(const Request& request, std::span<const Key> keys);
  void record_hit(const CommandFacts& command, const Key& key, std::size_t bytes) {
    record(command, key, bytes, Source::kCopy);
  }

 private:
  enum class Source : std::uint8_t { kCopy, kFill };

  Key hashed(std::string_view key) const {
    const NameHash name = hash_name_inline(key, parts_.shared.seed);
    return {.key = key, .name = name, .hash = in_db(name, client_.state.db_)};
  }
  const cache::Entry* entry_of(const Key& key) const {
    return parts_.copies.find(key.hash, key.key, client_.state.db_);
  }

  // A read that has waited for a fill is a miss. But no command was sent for it alone, and the
  // keeper charges the fill to the key (copies/load_window.h).
  void record(const CommandFacts& command, const Key& key, std::size_t bytes, Source source) {
    if (source == Source::kFill) parts_.shared.key_loads.add(key.hash, 1);
    if (key.copy != nullptr && key.copy->proof != 0)
      client_.traffic.shown.note(key.copy->proof, key.copy->answered_at());
    parts_.record({.hash = key.hash,
                   .key = key.key,
                   .db = client_.state.db_,
                   .kind = detect::AccessKind::kRead,
                   .local_hit = source == Source::kCopy,
                   .bytes = static_cast<std::uint32_t>(bytes),
                   .command = command.number,
                   .client = client_.address});
  }

  void note_given(NameHash name, TimePoint fill_sent_at) const {
    if (client_.traffic.given != nullptr) [[unlikely]]
      client_.traffic.given->push_back({name, fill_sent_at});
  }

  bool has_right(const Request& request, std::span<const Key> keys);
  const WorkerParts& parts_;
  const ReliefContext& client_;
};

}  // namespace heatsink::proxy
