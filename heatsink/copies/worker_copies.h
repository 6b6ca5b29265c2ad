// SPDX-License-Identifier: Apache-2.0
// The use of local copies in one worker: looks copies up, requests them, waits for them, and fences
// off writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/cache/cache.h"
#include "heatsink/copies/audit_sampler.h"
#include "heatsink/copies/auditor.h"
#include "heatsink/copies/counters.h"
#include "heatsink/copies/effects.h"
#include "heatsink/copies/fill_benefit.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/fill_waiters.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/reply_size_filter.h"

namespace heatsink::copies {

// The services of the keeper that need the tracking connection. Any thread. Each call is answered
// by a message to the worker.
class CopySource {
 public:
  virtual void request_fill(FillRequest request) = 0;
  virtual void request_barrier(BarrierRequest request) = 0;
  // ACL rules have changed: finds out whether clients without AUTH get in, then releases the
  // session's replies (0: no session waits).
  virtual void check_access(std::size_t worker, std::uint64_t session) = 0;
  virtual void audit(AuditedHit hit) = 0;  // after a worker has served a hit

 protected:
  ~CopySource() = default;
};

// Belongs to one worker's thread. All workers share the copies themselves (NodeState).
class WorkerCopies {
 public:
  WorkerCopies(NodeState& shared, CopySource& source, Counters& counters, std::size_t worker);
  WorkerCopies(const WorkerCopies&) = delete;

  // Null: the key is not hot. Valid until the worker's next turn.
  const cache::Entry* find(KeyHash hash, std::string_view key, std::uint32_t db) const {
    return shared_.table.find(hash, key, db);
  }
  // `last_reply_at`: a time after the client's last reply from the server.
  cache::ServeDecision judge(const cache::Entry& entry, const cache::Read& read, TimePoint now,
                             TimePoint last_reply_at) const {
    return cache::judge(entry, read, shared_.proof, shared_.fences, now, last_reply_at);
  }
  cache::ServeDecision judge_in_outage(const cache::Entry& entry, const cache::Read& read,
                                       TimePoint now) const {
    return cache::judge_in_outage(entry, read, shared_.proof, shared_.fences, now);
  }
  bool are_proven() const { return shared_.proof.up(); }  // or will be soon
  TimePoint shown() const { return shared_.table.shown(); }

  // Call it for each copy that was served.
  void consider_audit(const cache::Entry& entry, const cache::Copy& copy, TimePoint now) {
    if (sampler_.due()) audit(entry, copy, now);
  }
  // For a key that may be read in more ways than it has copies for.
  void count_hit_among_many(KeyHash key) { fill_benefit_.hit(key); }
  void saw_reply(ReadHash which, std::uint64_t bytes, TimePoint now) {
    size_filter_.record_reply(which, bytes, now);
  }

  // True if a copy of this read is worth requesting.
  bool may_fill(const cache::Entry& entry, ReadHash which, const cache::Read& read, TimePoint now);
  // Single-flight. The worker tells the session (FillWaiters::kNoSession: none) when the answer is
  // there. `after`: an older fill will not do, because the client has seen newer replies. REQUIRES
  // may_fill().
  FillWaiters::JoinResult join_fill(std::uint64_t session, const cache::Entry& entry,
                                    ReadHash which, const cache::Read& read, TimePoint after);
  // True if join_fill() would need no new fill.
  bool joins_fill(const cache::Entry& entry, ReadHash which, TimePoint after) const;
  // Returns the sessions that waited for this answer.
  std::vector<std::uint64_t> filled(const FillAnswer& answer, TimePoint now);

  // Tells the fences that the request is about to be sent.
  void begin_writes(Effects& effects);
  // Tells the fences that the server has answered, or never will. Call it before the client gets
  // the reply. Holds back the client's replies until the keeper has fenced off what they show;
  // null: the client has left.
  void settle(Effects& effects, HeldClient* client, TimePoint now, Shown shown = Shown::kPerhaps);
  // From now on readers join no fill that was requested earlier.
  void forget_fills_asked_before(TimePoint now) { shared_.fences.raise_unknown(now); }
  // The session waits under this number (not 0) until all invalidations caused so far have been
  // processed. The keeper then tells the worker.
  void ask_barrier(std::uint64_t session, std::uint64_t ticket) {
    source_.request_barrier({worker_, session, false, ticket});
  }

 private:
  TimePoint fill_fence(const cache::Entry& entry, TimePoint after) const;
  void audit(const cache::Entry& entry, const cache::Copy& copy, TimePoint now);

  NodeState& shared_;
  CopySource& source_;
  Counters& counters_;
  const std::size_t worker_;
  AuditSampler sampler_;
  FillWaiters waiters_;
  ReplySizeFilter size_filter_;
  FillBenefit fill_benefit_;
};

}  // namespace heatsink::copies
