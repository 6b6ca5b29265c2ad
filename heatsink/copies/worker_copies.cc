// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/worker_copies.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace heatsink::copies {
namespace {

constexpr Nanos kTimersEarly = Millis(1);  // than the time that they were set to, at most
// Fills that are queued: further ones are not requested. No server gives so many in
// kReadUnderWay.
constexpr std::size_t kQueuedLimit = 4096;

// Holds the client's replies and returns its id; 0: there is no client to hold.
std::uint64_t hold(HeldClient* client) {
  if (client == nullptr || client->closed()) return 0;
  client->hold();
  return client->id();
}

}  // namespace

WorkerCopies::Sampling WorkerCopies::sampling(const PolicySnapshot& policy) {
  const policy::ProxyOptions& options = policy.options;
  const Nanos second = std::chrono::seconds(1);
  const auto workers = std::max<std::int64_t>(options.workers, 1);
  const auto per_second = static_cast<Nanos::rep>(ServedHits::kPicksPerSecond) / workers;
  const Nanos::rep picks = std::max<Nanos::rep>(per_second * options.tick / second, 1);
  return {options.audit_rate, second * options.workers / options.audits_per_second,
          policy.has_paying_copies() ? static_cast<std::size_t>(picks) : 0};
}

AuditSampler WorkerCopies::audits_of(const Sampling& sampling) const {
  return {sampling.audit_rate, sampling.audit_pause, shared_.seed + worker_};
}

WorkerCopies::WorkerCopies(NodeState& shared, CopySource& source, Counters& counters,
                           std::size_t worker)
    : shared_(shared),
      source_(source),
      counters_(counters),
      worker_(worker),
      sampling_(sampling(shared.current())),
      hits_(audits_of(sampling_), sampling_.picks, shared.seed ^ worker),
      waiters_(static_cast<std::size_t>(shared.options().maximum_waiters)),
      size_filter_(Bytes{cache::bulk_reply_size(shared.options().maximum_value_bytes)}) {
  adopt_policy();
}

void WorkerCopies::adopt_policy() {
  const PolicySnapshot& policy = shared_.current();
  waiters_.set_max(static_cast<std::size_t>(policy.options.maximum_waiters));
  size_filter_.set_max(Bytes{cache::bulk_reply_size(policy.options.maximum_value_bytes)});
  if (const Sampling next = sampling(policy); next != std::exchange(sampling_, next))
    hits_.reconfigure(audits_of(next), next.picks, shared_.seed ^ worker_);
  // What it has sampled and counted stays, because a fill may still be on its way.
  if (!admission_ && shared_.admission) admission_.emplace(*shared_.admission);
  earns_ = admission_.has_value() && policy.has_paying_copies();
}

std::optional<WantedKey> WorkerCopies::earn_copy(KeyHash hash, NameHash name, std::string_view key,
                                                 std::uint32_t db, TimePoint now) {
  if (!counts_toward_copy(hash)) return std::nullopt;
  // Only a key that has earned a copy costs this search.
  const PolicySnapshot& policy = shared_.current();
  const std::size_t rule = policy.rule_of(key);
  if (policy.copies_for[rule] != policy::CopiesFor::kWhatPays) return std::nullopt;
  if (shared_.fences.counted_in_flight(name)) return std::nullopt;
  return WantedKey(hash, name, key, db, policy.consistency[rule], now);
}

bool WorkerCopies::must_earn(const cache::Entry& entry, const cache::Read& read) const {
  const cache::Copy* const copy = entry.copy(read);
  if (copy == nullptr || entry.stays() || !earns_) return false;
  const admit::Costs costs{.reads_to_pay = reads_to_pay()};
  return costs.earns_again(copy->reads.load(std::memory_order_relaxed));
}

bool WorkerCopies::earns_again(const cache::Entry& entry, const cache::Read& read) {
  if (!must_earn(entry, read)) return true;
  if (!counts_toward_copy(entry.hash())) return false;
  admission_->admitted(entry.hash());
  return true;
}

bool WorkerCopies::may_fill(const WantedKey& key, ReadHash which, const cache::Read& read,
                            TimePoint now) {
  // While the tracker is down, every fill fails at once.
  if (!shared_.proof.up() || cache::concerns_whole_key(key.uncacheable)) return false;
  if (source_.is_full()) [[unlikely]]
    return false;  // the read goes to the server
  const bool plain = read.arguments.empty();
  const bool get = read.command == 0;  // GETRANGE limits its reply: see FillQuestion
  const bool bounded = plain && (get || local_reads()[read.command].small);
  switch (size_filter_.look_up(which, now)) {
    case ReplySizeFilter::Answer::kUnknown:
      return bounded;
    case ReplySizeFilter::Answer::kFits:
      return plain || fill_benefit_.pays(key.hash, now, reads_to_pay());
    case ReplySizeFilter::Answer::kDoesNotFit:
      break;
  }
  return false;
}

// The fill that was last shown, and every later one, is new enough: hence the nanosecond.
TimePoint WorkerCopies::fill_fence(const WantedKey& key, TimePoint after) const {
  return std::max({shared_.fences.fence_to_join(key.fence), key.shown - Nanos(1), after});
}

std::optional<Nanos> WorkerCopies::queue_fill(const WantedKey& key, ReadHash which,
                                              const cache::Read& read, TimePoint now) {
  const bool is_known =
      std::find(queued_reads_.begin(), queued_reads_.end(), which) != queued_reads_.end();
  if (is_known || queued_.size() >= kQueuedLimit) return std::nullopt;
  queued_.push_back(
      {key.hash, key.name, std::string(key.key), key.db, which, cache::StoredRead(read), now});
  queued_reads_.push_back(which);
  return queue_wait(now);
}

// Nothing if a call is due at that time in any case, or before.
std::optional<Nanos> WorkerCopies::queue_wait(TimePoint now) {
  if (queued_.empty()) return std::nullopt;
  const TimePoint until =
      std::max(queued_.size() < kFullBatch ? queued_.front().wanted_at + kQueueFor
                                           : queued_[kFullBatch - 1].wanted_at + kReadUnderWay,
               now);
  if (until >= queued_until_) return std::nullopt;
  queued_until_ = until;
  return until - now;
}

WorkerSample WorkerCopies::take_sample(Nanos cpu, const DurationHistogram::Total& asked) {
  WorkerSample sample;
  if (admission_) sample.accesses = admission_->take_sampled();
  sample.hits = hits_.take_sampled();
  if (!sample.empty()) sample.work = take_server_work(cpu, asked);
  return sample;
}

// A read that waits for a fill of its own comes as one that is forwarded.
void WorkerCopies::note_turn() {
  const std::uint64_t commands = counters_.read(Count::kForwardedShared) +
                                 counters_.read(Count::kForwardedPrivate) +
                                 counters_.read(Count::kLocalHits) + fills_.awaited_fills;
  const std::uint64_t writes = counters_.read(Count::kUpstreamWrites);
  fills_.batches.note(commands - std::exchange(commands_noted_, commands));
  if (std::exchange(writes_noted_, writes) != writes) ++fills_.turns;
  const std::uint64_t reads = counters_.read(Count::kClientReads);
  if (std::exchange(reads_noted_, reads) != reads) counters_.add(Count::kClientTurns);
}

ServerWork WorkerCopies::take_server_work(Nanos cpu, const DurationHistogram::Total& asked) {
  ServerWork work = fills_;
  work.commands =
      counters_.read(Count::kForwardedShared) + counters_.read(Count::kForwardedPrivate);
  work.client_reads = counters_.read(Count::kClientReads);
  work.writes = counters_.read(Count::kUpstreamWrites);
  work.hits = counters_.read(Count::kLocalHits);
  work.cpu = cpu;
  work.asks = asked.count;
  work.asked = asked.sum;
  return work - std::exchange(work_taken_, work);
}

// A call that has become too early, because an earlier one was due, does nothing.
std::optional<Nanos> WorkerCopies::request_queued(TimePoint now) {
  if (now + kTimersEarly < queued_until_) return std::nullopt;
  queued_until_ = TimePoint::max();
  std::size_t ripe = 0;
  for (; !queued_.empty() && now + kTimersEarly >= queued_.front().wanted_at + kReadUnderWay;
       ++ripe) {
    request(queued_.front(), now);
    queued_.pop_front();
  }
  queued_reads_.erase(queued_reads_.begin(),
                      queued_reads_.begin() + static_cast<std::ptrdiff_t>(ripe));
  return queue_wait(now);
}

// A key that has come into the table meanwhile is filled as one of the table.
void WorkerCopies::request(const QueuedFill& fill, TimePoint now) {
  std::vector<std::string_view> arguments;
  fill.read.for_each_argument([&](std::string_view word) { arguments.push_back(word); });
  const cache::Read read{fill.read.command(), arguments};
  const cache::Entry* const entry = find(fill.hash, fill.key, fill.db);
  // It was hot, has left the table since, and cannot earn a copy.
  if (entry == nullptr && !earns_) return;
  const WantedKey key = entry != nullptr ? WantedKey(*entry)
                                         : WantedKey(fill.hash, fill.name, fill.key, fill.db,
                                                     shared_.consistency_of(fill.key), now);
  const cache::Copy* const copy = entry == nullptr ? nullptr : entry->copy(read);
  const bool has_come =
      copy != nullptr && now < copy->deadline && copy->fill_sent_at > shared_.fences.fence(*entry);
  if (has_come || !may_fill(key, fill.which, read, now)) return;
  join_fill(FillWaiters::kNoSession, key, fill.which, read, TimePoint{});
}

bool WorkerCopies::joins_fill(const WantedKey& key, ReadHash which, TimePoint after) const {
  return waiters_.joins(which, fill_fence(key, after));
}

FillWaiters::JoinResult WorkerCopies::join_fill(std::uint64_t session, const WantedKey& key,
                                                ReadHash which, const cache::Read& read,
                                                TimePoint after) {
  const TimePoint fence = fill_fence(key, after);
  const FillWaiters::JoinResult join = waiters_.join(which, session, fence);
  const bool plain = read.arguments.empty();
  if (join == FillWaiters::JoinResult::kJoined && session != FillWaiters::kNoSession) {
    counters_.add(Count::kJoinedFills);
    if (!plain) fill_benefit_.hit(key.hash);
  }
  if (join == FillWaiters::JoinResult::kAskKeeper) {
    if (!plain) fill_benefit_.filled(key.hash);
    if (key.is_earned) admission_->admitted(key.hash);
    if (!key.is_held)
      (session == FillWaiters::kNoSession ? fills_.queued_fills : fills_.awaited_fills) += 1;
    has_asked_ = true;
    source_.request_fill({worker_, key.hash, std::string(key.key), key.db, fence, which,
                          cache::StoredRead(read), key.consistency, key.is_earned});
  }
  return join;
}

std::vector<std::uint64_t> WorkerCopies::filled(const FillAnswer& answer, TimePoint now) {
  const bool get = answer.read.command() == 0;
  if (answer.refused) {
    size_filter_.record_refusal(answer.which, now);
  } else if (answer.usable && !get) {
    size_filter_.record_reply(answer.which, std::max(answer.reply.size(), answer.resp2.size()),
                              now);
  }
  return waiters_.take(answer);
}

void WorkerCopies::look_at_hit(const cache::Entry& entry, const cache::Copy& copy, TimePoint now) {
  // A copy of kTtl may be stale by design.
  const bool bounded = entry.consistency().level != cache::Level::kTtl;
  if (hits_.look(entry.hash(), now) && bounded) source_.audit(AuditedHit(entry, copy));
}

void WorkerCopies::begin_writes(Effects& effects, bool on_private) {
  if (!effects.keys.has_writes()) return;
  cache::WriteCounting& counting = shared_.fences.counting();
  if (!on_private && !counting.counts()) {
    counting.sent_uncounted(worker_);
    effects.writes_begun = WritesBegun::kUncounted;
    return;
  }
  effects.writes_begun = WritesBegun::kCounted;
  effects.keys.for_each([&](const TouchedKey& key) {
    if (key.write) shared_.fences.write_begins(key.name);
  });
}

void WorkerCopies::settle(Effects& effects, HeldClient* client, TimePoint now, Shown shown) {
  // A reply and a lost connection may both settle a command. The first one counts.
  if (std::exchange(effects.settled, true)) return;
  if (effects.changes_access) {
    shared_.rights_change(now);
    source_.check_access(worker_, hold(client));
  }
  // What was counted must end, even if nothing is hot by now.
  const bool has_copies = !shared_.table.none() || shared_.kept_names.any();
  const bool fences_keys = has_copies && (effects.keys.has_writes() || shown == Shown::kPerhaps);
  if (fences_keys || effects.writes_begun == WritesBegun::kCounted) fence_keys(effects, now, shown);
  if (effects.writes_begun == WritesBegun::kUncounted)
    shared_.fences.counting().ended_uncounted(worker_);
  // Without copies, or without a proof for them, there is nothing to protect.
  const bool doubtful = effects.unknown_keys && has_copies && (shared_.proof.up() || effects.flush);
  if (!doubtful) return;
  counters_.add(Count::kBarriers);
  shared_.fences.raise_unknown(now);
  const std::uint64_t held = hold(client);
  if (held != 0 || effects.flush || effects.runs_code)
    source_.request_barrier({worker_, held, effects.flush, 0, effects.runs_code});
}

void WorkerCopies::fence_keys(const Effects& effects, TimePoint now, Shown shown) {
  effects.keys.for_each([&](const TouchedKey& key) {
    if (key.write && effects.writes_begun == WritesBegun::kCounted) {
      shared_.fences.write_ends(key.name, now);
    } else if (key.write) {
      shared_.fences.raise(key.name, now);
    } else if (shown == Shown::kPerhaps) {
      shared_.fences.raise(key.key, now);
    }
  });
}

}  // namespace heatsink::copies
