// SPDX-License-Identifier: Apache-2.0
// What the sessions of one worker do with the local copies: look one up, ask for one, wait for one,
// and fence off what they write.
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

// What only the tracking connection can do, and who has it: the keeper. Any thread; each call is
// answered by a message to the worker.
class CopySource {
 public:
  virtual void request_fill(FillRequest request) = 0;
  virtual void request_barrier(BarrierRequest request) = 0;
  // The rules have changed: releases the session's replies (0: nobody waits) when it is known who
  // is let in now.
  virtual void check_access(std::size_t worker, std::uint64_t session) = 0;
  virtual void audit(AuditedHit hit) = 0;  // what a worker has served

 protected:
  ~CopySource() = default;
};

// Belongs to one worker's thread. The copies themselves are all workers' (NodeState).
class WorkerCopies {
 public:
  WorkerCopies(NodeState& shared, CopySource& source, Counters& counters, std::size_t worker);
  WorkerCopies(const WorkerCopies&) = delete;

  // Null: the key is not hot. Valid until the worker's next turn.
  const cache::Entry* find(KeyHash hash, std::string_view key, std::uint32_t db) const {
    return shared_.table.find(hash, key, db);
  }
  // `last_reply_at`: the client was told something by the server before that.
  cache::ServeDecision judge(const cache::Entry& entry, const cache::Read& read, TimePoint now,
                             TimePoint last_reply_at) const {
    return cache::judge(entry, read, shared_.proof, shared_.fences, now, last_reply_at);
  }
  cache::ServeDecision judge_in_outage(const cache::Entry& entry, const cache::Read& read,
                                       TimePoint now) const {
    return cache::judge_in_outage(entry, read, shared_.proof, shared_.fences, now);
  }
  bool are_proven() const { return shared_.proof.up(); }  // or will be, soon
  TimePoint shown() const { return shared_.table.shown(); }

  // Of each copy that was served.
  void consider_audit(const cache::Entry& entry, const cache::Copy& copy, TimePoint now) {
    if (sampler_.due()) audit(entry, copy, now);
  }
  // Of a key that may be read in more ways than it has copies for.
  void count_hit_among_many(KeyHash key) { fill_benefit_.hit(key); }
  void saw_reply(ReadHash which, std::uint64_t bytes, TimePoint now) {
    size_filter_.record_reply(which, bytes, now);
  }

  // Whether it makes sense to ask for a copy of this read.
  bool may_fill(const cache::Entry& entry, ReadHash which, const cache::Read& read, TimePoint now);
  // Single-flight. REQUIRES may_fill(). The session (FillWaiters::kNobody: none) is told when the
  // answer is there. `after`: what it was told last, if that matters: an older fill will not do.
  FillWaiters::JoinResult join_fill(std::uint64_t session, const cache::Entry& entry,
                                    ReadHash which, const cache::Read& read, TimePoint after);
  // Whether join_fill() would ask nobody, because another's fill will do.
  bool joins_fill(const cache::Entry& entry, ReadHash which, TimePoint after) const;
  // The sessions that wait for it.
  std::vector<std::uint64_t> filled(const FillAnswer& answer, TimePoint now);

  // Tells the fences that the request is about to be sent.
  void begin_writes(Effects& effects);
  // Tells the fences that the server has answered (or never will): before the reply is handed on.
  // The client's replies are held back until the keeper knows what they show; null: it has gone.
  void settle(Effects& effects, HeldClient* client, TimePoint now, Shown shown = Shown::kPerhaps);
  // No fill that was asked for earlier may be joined any longer.
  void forget_fills_asked_before(TimePoint now) { shared_.fences.raise_unknown(now); }
  // The session waits under this number (not 0) until all invalidations caused so far have been
  // processed: then the worker is told.
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
