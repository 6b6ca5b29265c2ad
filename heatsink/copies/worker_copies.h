// SPDX-License-Identifier: Apache-2.0
// The use of local copies in one worker: looks copies up, requests them, waits for them, and fences
// off writes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/cache/cache.h"
#include "heatsink/copies/auditor.h"
#include "heatsink/copies/counters.h"
#include "heatsink/copies/duration_histogram.h"
#include "heatsink/copies/effects.h"
#include "heatsink/copies/fill_benefit.h"
#include "heatsink/copies/fill_pace.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/fill_waiters.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/reply_size_filter.h"
#include "heatsink/copies/served_hits.h"
#include "heatsink/copies/worker_sample.h"

namespace heatsink::copies {

// The services of the keeper that need the tracking connection. Any thread. Each call is answered
// by a message to the worker.
class CopySource {
 public:
  // So much work waits for the keeper that fills and audits have to do without it for now.
  virtual bool is_full() const { return false; }
  virtual void request_fill(FillRequest request) = 0;
  // Call it at the end of a turn with fills: until then the keeper may not know of them.
  virtual void send_fills() {}
  virtual void request_barrier(BarrierRequest request) = 0;
  // ACL rules have changed: finds out whether clients without AUTH get in, then releases the
  // session's replies (0: no session waits).
  virtual void check_access(std::size_t worker, std::uint64_t session) = 0;
  virtual void audit(AuditedHit hit) = 0;  // after a worker has served a hit

 protected:
  ~CopySource() = default;
};

// A key of which a read wants a copy.
struct WantedKey {
  // A key of the hot table.
  explicit WantedKey(const cache::Entry& entry)
      : hash(entry.hash()),
        name(entry.name()),
        key(entry.key()),
        db(entry.db()),
        consistency(entry.consistency()),
        fence(entry.fence()),
        shown(entry.shown()),
        uncacheable(entry.uncacheable()),
        is_held(entry.stays()) {}
  // A key that has earned a copy at `now`. While it was not in the hot table, what clients were
  // shown of it raised no fence: its readers join no fill that was requested earlier.
  WantedKey(KeyHash its_hash, NameHash its_name, std::string_view its_key, std::uint32_t its_db,
            const cache::ConsistencyPolicy& its_consistency, TimePoint now)
      : hash(its_hash),
        name(its_name),
        key(its_key),
        db(its_db),
        consistency(its_consistency),
        shown(now),
        is_earned(true) {}

  KeyHash hash;
  NameHash name;
  std::string_view key;
  std::uint32_t db;
  cache::ConsistencyPolicy consistency;
  TimePoint fence{};  // see cache::Fences::fence_to_join()
  TimePoint shown{};  // see cache::Entry::shown()
  cache::Uncacheable uncacheable = cache::Uncacheable::kNo;
  bool is_earned = false;  // it is not in the hot table yet
  bool is_held = false;    // its copies are filled again after each write
};

// Belongs to one worker's thread. All workers share the copies themselves (NodeState).
class WorkerCopies {
 public:
  WorkerCopies(NodeState& shared, CopySource& source, Counters& counters, std::size_t worker);
  WorkerCopies(const WorkerCopies&) = delete;

  // The configuration has changed.
  void adopt_policy();

  // Null: the key is not hot. Valid until the worker's next turn.
  const cache::Entry* find(KeyHash hash, std::string_view key, std::uint32_t db) const {
    return shared_.table.find(hash, key, db);
  }
  // Begins to load what find() and judge() will read.
  void load(KeyHash hash, NameHash name) const {
    if (shared_.table.none()) return;
    shared_.table.load(hash);
    shared_.fences.load(name);
  }
  // Begins to load what counts_toward_copy() will read.
  void load_count(KeyHash hash) const {
    if (earns_) admission_->load_count(hash);
  }
  // `last_reply_at`: a time after the client's last reply from the server.
  cache::ServeDecision judge(const cache::Entry& entry, const cache::Read& read, TimePoint now,
                             TimePoint last_reply_at) const {
    return cache::judge(entry, read, shared_.proofs, shared_.fences, now, last_reply_at);
  }
  cache::ServeDecision judge_in_outage(const cache::Entry& entry, const cache::Read& read,
                                       TimePoint now) const {
    return cache::judge_in_outage(entry, read, shared_.proofs[entry.proof()], shared_.fences, now);
  }
  bool are_proven() const { return shared_.proof.up(); }  // or will be soon
  TimePoint shown() const { return shared_.table.shown(); }

  // Call it for each copy that was served and is up to date.
  void served(const cache::Entry& entry, const cache::Copy& copy, TimePoint now) {
    if (!entry.stays()) ++fills_.earned_hits;
    if (hits_.due()) [[unlikely]]
      look_at_hit(entry, copy, now);
  }
  // For a key that may be read in more ways than it has copies for.
  void count_hit_among_many(KeyHash key) { fill_benefit_.hit(key); }
  void saw_reply(ReadHash which, std::uint64_t bytes, TimePoint now) {
    size_filter_.record_reply(which, bytes, now);
  }

  // For a read of a key that is not in the hot table. Null: the key has earned no copy, or none may
  // be made now. Counts the read. `now`: of the clock, and not that of the loop's turn.
  std::optional<WantedKey> earn_copy(KeyHash hash, NameHash name, std::string_view key,
                                     std::uint32_t db, TimePoint now);
  // For a read of a key in the table whose copy is over: it was not worth its fill, so the key has
  // to earn the next one.
  bool must_earn(const cache::Entry& entry, const cache::Read& read) const;
  // False: it must, and has not. Counts the read.
  bool earns_again(const cache::Entry& entry, const cache::Read& read);
  // Only counts the read. True: earn_copy() is worth a call, and may count the read again.
  bool counts_toward_copy(KeyHash hash) {
    if (!earns_ || !shared_.proof.up()) return false;
    if (admission_->earns_copy(hash)) return true;
    counters_.add(Count::kSeldomRead);
    return false;
  }
  // Call it for each access of a key.
  void saw(KeyHash key, bool is_write) {
    if (earns_) admission_->saw(key, is_write);
  }
  // Call it when a read has got the fill that it waited for so long.
  void waited_for_fill(Nanos time) {
    ++fills_.waits;
    fills_.waited += time;
  }
  // Call it at the end of the worker's turn, after it has sent its requests.
  void note_turn();
  // Call it once per tick. `cpu`: what the worker's thread has taken so far; 0: not measured.
  // `asked`: what the server has answered so far.
  WorkerSample take_sample(Nanos cpu = Nanos(0), const DurationHistogram::Total& asked = {});

  // True if a copy of this read is worth requesting.
  bool may_fill(const WantedKey& key, ReadHash which, const cache::Read& read, TimePoint now);
  // Call it when a read could wait for the fill of a copy that it has earned. True: fills come so
  // often that to queue it costs less (fill_pace.h). `now`: of the clock.
  bool fills_come_often(TimePoint now) { return fill_pace_.note(now); }
  // Single-flight. The worker tells the session (FillWaiters::kNoSession: none) when the answer is
  // there. `after`: an older fill will not do, because the client has seen newer replies. REQUIRES
  // may_fill().
  FillWaiters::JoinResult join_fill(std::uint64_t session, const WantedKey& key, ReadHash which,
                                    const cache::Read& read, TimePoint after);
  // Asks for a fill that no session waits for. Fills of about the same time are requested together:
  // each of them alone would wake the server. And each waits for kReadUnderWay: the read that wants
  // the copy is on its way to the server, and its reply ends the copy of a fill that was sent
  // before it came (docs/decisions/0102). `now` has the same use as in request_queued(). A
  // result: call request_queued() after that time. REQUIRES may_fill().
  std::optional<Nanos> queue_fill(const WantedKey& key, ReadHash which, const cache::Read& read,
                                  TimePoint now);
  // A result: call it again after that time.
  std::optional<Nanos> request_queued(TimePoint now);
  static constexpr Nanos kQueueFor = std::chrono::milliseconds(50);
  static constexpr std::size_t kFullBatch = 32;  // so many do not wait for kQueueFor
  static constexpr Nanos kReadUnderWay = std::chrono::milliseconds(5);
  // Call it at the end of the worker's turn: the fills of one turn wake the keeper once.
  void send_fills() {
    if (std::exchange(has_asked_, false)) source_.send_fills();
  }
  // True if join_fill() would need no new fill.
  bool joins_fill(const WantedKey& key, ReadHash which, TimePoint after) const;
  // Returns the sessions that waited for this answer.
  std::vector<std::uint64_t> filled(const FillAnswer& answer, TimePoint now);

  // Tells the fences that the request is about to be sent. `on_private`: nothing bounds how long
  // its reply takes to be read, so it is always counted by name and holds up its own keys only.
  void begin_writes(Effects& effects, bool on_private = false);
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
  struct QueuedFill {
    KeyHash hash;
    NameHash name;
    std::string key;
    std::uint32_t db;
    ReadHash which;
    cache::StoredRead read;
    TimePoint wanted_at;
  };

  std::optional<Nanos> queue_wait(TimePoint now);
  void request(const QueuedFill& fill, TimePoint now);
  std::uint32_t reads_to_pay() const { return admission_ ? admission_->reads_to_pay() : 1; }
  TimePoint fill_fence(const WantedKey& key, TimePoint after) const;
  void look_at_hit(const cache::Entry& entry, const cache::Copy& copy, TimePoint now);
  ServerWork take_server_work(Nanos cpu, const DurationHistogram::Total& asked);
  void fence_keys(const Effects& effects, TimePoint now, Shown shown);

  NodeState& shared_;
  CopySource& source_;
  Counters& counters_;
  const std::size_t worker_;
  struct Sampling {
    Share audit_rate;
    Nanos audit_pause;
    std::size_t picks;
    friend bool operator==(const Sampling&, const Sampling&) = default;
  };
  static Sampling sampling(const PolicySnapshot& policy);
  AuditSampler audits_of(const Sampling& sampling) const;

  Sampling sampling_;
  ServedHits hits_;
  FillWaiters waiters_;
  ReplySizeFilter size_filter_;
  FillBenefit fill_benefit_;
  std::deque<QueuedFill> queued_;
  std::vector<ReadHash> queued_reads_;         // of each of them: to be searched
  TimePoint queued_until_ = TimePoint::max();  // the next request_queued(); max(): none is due
  bool has_asked_ = false;                     // for fills, since send_fills()
  FillPace fill_pace_{kQueueFor};
  ServerWork fills_;  // only fills, hits, waits and turns
  ServerWork work_taken_;
  // At the last note_turn().
  std::uint64_t commands_noted_ = 0, writes_noted_ = 0, reads_noted_ = 0;
  std::optional<admit::CopyAdmission> admission_;  // none: only hot keys have got copies so far
  bool earns_ = false;  // keys earn copies now; then there is an admission_
};

}  // namespace heatsink::copies
