// SPDX-License-Identifier: Apache-2.0
// Runs a client's requests through its reliefs, in a fixed order.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "heatsink/relief/barriers.h"
#include "heatsink/relief/copy_lookup.h"
#include "heatsink/relief/copy_reads.h"
#include "heatsink/relief/gathering.h"
#include "heatsink/relief/limiting.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/replica_reads.h"
#include "heatsink/relief/spread_reads.h"
#include "heatsink/relief/stale_reads.h"
#include "heatsink/relief/ttl_reads.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

// One per session; one worker's thread. For each request: `((arrives (departs | departs_in_part)?)*
// ended)`, from the start again each time the request has waited. Cost: the reliefs are plain
// members and no call is virtual; a request without any relief costs a few comparisons.
class ReliefChain {
 public:
  // `parts` outlives it.
  ReliefChain(const WorkerParts& parts, const ReliefContext& client)
      : client_(client),
        lookup_(parts, client_),
        stale_(parts, lookup_),
        limits_(parts, client_, lookup_, stale_),
        gathering_(parts, client_),
        spread_(parts, client_),
        replicas_(parts, client_),
        barriers_(parts, client_),
        copies_(parts, client_, lookup_, barriers_, &limits_) {}
  ReliefChain(const ReliefChain&) = delete;

  // The route of the request is not known yet. The order:
  //  1. Limits of `all` count each read once, even if a copy answers it: so they come before
  //     copies.
  //  2. Requests that would overtake this client's gathered writes wait: before anything can
  //     answer.
  //  3. Commands that may change a key wait for this client's reads of copies on other nodes, and
  //     for its reads at replicas, which may have to be repeated.
  //  4. HEATSINK BARRIER is unknown to the server, and no copy could answer it.
  //  5. Copies answer what they can. They ask the limits before a fill, which asks the server.
  Outcome arrives(Request& request) {
    return first([&](auto& relief) { return relief.arrives(request); }, limits_, gathering_,
                 spread_, replicas_, barriers_, copies_);
  }

  // For plain GETs in one go (GetsAhead), with the same result as arrives() and departs() for each.
  // REQUIRES passes_plain_gets(): no relief but the copies looks at them.
  bool passes_plain_gets() const {
    return !limits_.is_on() && !gathering_.is_gathering() && lookup_.may_read_copies();
  }
  GetsAhead look_ahead(std::string_view bytes) const { return GetsAhead(bytes, lookup_); }
  std::size_t serve_run(GetsAhead& gets, const CommandFacts& get, TimePoint now,
                        std::size_t output_max, ByteBuffer& out) {
    return copies_.serve_run(gets, get, now, output_max, out);
  }
  // As TtlReads::serve().
  bool serve_with_ttl(const WorkerParts& parts, Request& read, std::string_view before) {
    return TtlReads(parts, lookup_, copies_).serve(read, before);
  }
  // False: a copy, here or elsewhere, may answer, so the request must go through arrives().
  bool passes_cold(const CopyLookup::Key& key) const {
    const bool has_none = key.entry == nullptr || key.must_earn || lookup_.is_in_flight(key.name);
    return has_none && !spread_.applies(key.key) && !replicas_.wants(key.hash);
  }
  // Counts a read that passes_cold(), just before it is sent. True: the key has earned a copy, so
  // the request must go through arrives() instead.
  bool earns_copy(const CopyLookup::Key& key) const {
    return !lookup_.is_in_flight(key.name) && copies_.counts_toward_copy(key);
  }

  // The same for plain SETs (resp/plain_request.h): no relief looks at them.
  bool passes_plain_sets() const {
    return !limits_.is_on() && !gathering_.is_on() && !spread_.is_on() && !replicas_.has_reads() &&
           lookup_.may_read_copies();
  }

  // The request is about to be sent to a server. The order:
  //  1. Limits: refused writes are not gathered, and held-back writes open no window. If a rule
  //     asks for it, stale copies answer refused reads.
  //  2. A write may be gathered with the writes of other clients.
  //  3. A read may go to a copy on another node, or, of a hot key, to a replica. Both cost the
  //     limits of `upstream` as much.
  Outcome departs(Request& request) {
    return first([&](auto& relief) { return relief.departs(request); }, limits_, gathering_,
                 spread_, replicas_);
  }
  // The same for a request too big to buffer: its keys have arrived, but not all of its arguments.
  Outcome departs_in_part(Request& request) { return limits_.departs_in_part(request); }

  // The request was answered or sent.
  void ended(bool server_was_asked) { limits_.ended(server_was_asked); }

  // Answers of the keeper.
  void filled(std::shared_ptr<const copies::FillAnswer> answer) {
    copies_.filled(std::move(answer));
  }
  void barrier_passed(std::uint64_t ticket) { barriers_.passed(ticket); }

  // The configuration has changed.
  void policy_changed() { limits_.policy_changed(); }

  // What reads in flight at replicas keep.
  std::size_t kept_bytes() const { return replicas_.kept_bytes(); }
  void shrink() { replicas_.shrink(); }

  // The client has left.
  void close() {
    limits_.close();
    barriers_.close();
  }

 private:
  // The outcome of the first relief that does not pass.
  template <class Ask, class... Reliefs>
  static Outcome first(Ask ask, Reliefs&... reliefs) {
    Outcome outcome = Outcome::kPass;
    static_cast<void>((((outcome = ask(reliefs)) == Outcome::kPass) && ...));
    return outcome;
  }

  const ReliefContext client_;
  CopyLookup lookup_;
  StaleReads stale_;
  Limiting limits_;
  Gathering gathering_;
  SpreadReads spread_;
  ReplicaReads replicas_;
  Barriers barriers_;
  CopyReads copies_;
};

}  // namespace heatsink::proxy
