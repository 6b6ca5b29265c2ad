// SPDX-License-Identifier: Apache-2.0
// The reliefs of one client, and the order in which they look at its requests.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "heatsink/proxy/barriers.h"
#include "heatsink/proxy/copy_lookup.h"
#include "heatsink/proxy/copy_reads.h"
#include "heatsink/proxy/gathering.h"
#include "heatsink/proxy/limiting.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/stale_reads.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

// Belongs to one session; one worker's thread. For each request:
// `((arrives (departs | departs_in_part)?)* ended)`, again from the start each time that it has
// waited. Cost: the reliefs are plain members and no call is virtual; a request that none of them
// concerns costs a few comparisons.
class ReliefChain {
 public:
  // `parts` outlives it.
  ReliefChain(const WorkerParts& parts, const ReliefContext& client)
      : client_(client),
        lookup_(parts, client_),
        stale_(parts, lookup_),
        limits_(parts, client_, lookup_, stale_),
        gathering_(parts, client_),
        barriers_(parts, client_),
        copies_(parts, client_, lookup_, barriers_, parts.shared.limits ? &limits_ : nullptr) {}
  ReliefChain(const ReliefChain&) = delete;

  // It is not known yet where the request goes.
  //  1. Limits of `all` count each read once, also those that copies answer: so before the copies.
  //  2. What would overtake this client's gathered writes waits: so before anything can answer.
  //  3. HEATSINK BARRIER is no command of the server's, and no copy could answer it.
  //  4. Copies answer what they can. They ask the limits before a fill, which asks the server.
  Outcome arrives(Request& request) {
    return first([&](auto& relief) { return relief.arrives(request); }, limits_, gathering_,
                 barriers_, copies_);
  }

  // Requests at the front of `bytes` that copies answer, in one go: the result is the same as by
  // arrives(), one by one. See CopyReads::serve_run(). Returns how many bytes they were.
  std::size_t serve_run(std::string_view bytes, const CommandFacts& get, TimePoint now,
                        std::size_t output_max, ByteBuffer& out) {
    if (limits_.is_on()) return 0;
    return copies_.serve_run(bytes, get, now, output_max, out).bytes;
  }

  // The request is about to be sent to a server.
  //  1. Limits: what they refuse is not gathered, and what they hold back opens no window. Where a
  //     rule asks for it, stale copies answer what they refuse.
  //  2. A write may be gathered with those of others.
  Outcome departs(Request& request) {
    return first([&](auto& relief) { return relief.departs(request); }, limits_, gathering_);
  }
  // Likewise, of a request too big to be buffered: its keys have come, not all of its arguments.
  Outcome departs_in_part(Request& request) { return limits_.departs_in_part(request); }

  // The request has been answered or sent.
  void ended(bool server_was_asked) { limits_.ended(server_was_asked); }

  // What the keeper answers.
  void filled(std::shared_ptr<const copies::FillAnswer> answer) {
    copies_.filled(std::move(answer));
  }
  void barrier_passed(std::uint64_t ticket) { barriers_.passed(ticket); }

  // The client has left.
  void close() {
    limits_.close();
    barriers_.close();
  }

 private:
  // Of the first relief that does not pass.
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
  Barriers barriers_;
  CopyReads copies_;
};

}  // namespace heatsink::proxy
