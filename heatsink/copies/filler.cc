// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/filler.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "heatsink/copies/read_question.h"

namespace heatsink::copies {

using redis::FillReply;

namespace {

constexpr Nanos kTtlUnit = Millis(1);  // PTTL drops fractions of 1 ms

std::uint32_t microseconds(Nanos duration) {
  const auto count = std::chrono::ceil<std::chrono::microseconds>(duration).count();
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, kMax));
}

}  // namespace

// A pending fill serves this reader, too, if it was sent after everything that the reader has seen.
void Filler::request(FillRequest request, TimePoint now) {
  redis::FillId& latest = latest_[request.which.value];
  if (const auto found = pending_.find(latest); found != pending_.end()) {
    PendingFill& pending = found->second;
    if (pending.sent_at > request.fence) {
      pending.join(request.worker);
      return;
    }
  }
  counters_.add(Count::kFills);
  const redis::FillId id = latest = ++last_id_;
  // Later than the fence and than every other fill: the key rule compares these times strictly.
  last_sent_at_ = std::max({now, request.fence + Nanos(1), last_sent_at_ + Nanos(1)});
  shared_.table.note_sent(last_sent_at_);
  const cache::ProofIndex proof = source_->proof_of(request.key);
  PendingFill& pending = pending_[id];
  pending.worker = request.worker;
  pending.sent_at = last_sent_at_;
  pending.proof = proof;
  pending.generation = shared_.proofs[proof].generation();
  pending.slot_number = slot_number_of(request.key);
  pending.asked = std::move(request);
  // The answer may come within the call, as its last step, and ends `pending`.
  const FillRequest& asked = pending.asked;
  source_->fill(id, ReadQuestion(asked.key, asked.db, asked.read).get(), last_sent_at_);
}

void Filler::PendingFill::join(std::size_t joining) {
  if (joining == worker || joining == FillRequest::kNoWorker) return;
  if (worker == FillRequest::kNoWorker) {
    worker = joining;
  } else if (std::find(other_workers.begin(), other_workers.end(), joining) ==
             other_workers.end()) {
    other_workers.push_back(joining);
  }
}

void Filler::on_filled(FillReply& reply) {
  const auto found = pending_.find(reply.id);
  const PendingFill pending = std::move(found->second);
  pending_.erase(found);
  const auto latest = latest_.find(pending.asked.which.value);
  if (latest != latest_.end() && latest->second == reply.id) latest_.erase(latest);

  auto answer = std::make_shared<FillAnswer>();
  answer->which = pending.asked.which;
  answer->key = pending.asked.hash;
  answer->read = pending.asked.read;
  answer->consistency = pending.asked.consistency;
  answer->sent_at = reply.sent_at;
  answer->proof = pending.proof;
  if (reply.ttl) answer->value_ends = reply.sent_at + *reply.ttl;
  answer->nil = reply.outcome == FillReply::Outcome::kNil;
  answer->usable = reply.usable();
  answer->refused = !answer->usable && reply.outcome != FillReply::Outcome::kFailed;
  answer->reply = std::move(reply.reply);
  answer->resp2 = std::move(reply.resp2);
  // Before the copy and the answers become visible (see HotTable::note_shown()).
  if (answer->usable) shared_.table.note_shown(pending.asked.hash, reply.sent_at);
  if (!answer->usable) counters_.add(Count::kFillsFailed);
  if (answer->usable) latency_.observe(reply.answered_at - reply.sent_at);
  const FillOutcome outcome = keep(pending, reply, *answer);
  deliver(pending, answer);
  listener_.filled(pending.asked, outcome, reason_of(pending, reply));
}

void Filler::deliver(const PendingFill& pending, const std::shared_ptr<const FillAnswer>& answer) {
  if (pending.worker != FillRequest::kNoWorker) listener_.deliver(pending.worker, answer);
  for (const std::size_t worker : pending.other_workers) listener_.deliver(worker, answer);
}

std::string Filler::reason_of(const PendingFill& pending, const FillReply& reply) {
  if (reply.outcome == FillReply::Outcome::kTableFull)
    return cache::to_string(cache::Uncacheable::kTableFull);
  if (reply.outcome != FillReply::Outcome::kNoDatabase) return "";
  return "the server refuses database " + std::to_string(pending.asked.db) + ": " + reply.refusal;
}

// The waiting clients get the value in any case: the server had it while they waited. It is kept as
// a copy only if no event has put it in doubt since.
FillOutcome Filler::keep(const PendingFill& pending, const FillReply& reply,
                         const FillAnswer& answer) {
  const KeyHash key = pending.asked.hash;
  switch (reply.outcome) {
    case FillReply::Outcome::kTooBig:
      shared_.table.mark(key, cache::Uncacheable::kTooBig, reply.sent_at);
      return FillOutcome::kTooBig;
    case FillReply::Outcome::kRefused:
      shared_.table.mark(key, cache::Uncacheable::kWrongType, reply.sent_at);
      return FillOutcome::kRefused;
    case FillReply::Outcome::kNoDatabase:
      shared_.table.mark(key, cache::Uncacheable::kNoDatabase, reply.sent_at);
      return FillOutcome::kNoDatabase;
    case FillReply::Outcome::kTableFull:
      shared_.table.mark(key, cache::Uncacheable::kTableFull, reply.sent_at);
      return FillOutcome::kTableFull;
    // No mark: the server may be back for the next reader.
    case FillReply::Outcome::kFailed:
      return FillOutcome::kFailed;
    case FillReply::Outcome::kValue:
    case FillReply::Outcome::kNil:
      break;
  }
  const bool is_late = pending.generation != shared_.proofs[pending.proof].generation() ||
                       pending.slot_number != slot_number_of(pending.asked.key);
  if (reply.spoiled || is_late) {
    counters_.add(Count::kFillsSpoiled);
    return FillOutcome::kSpoiled;
  }
  return insert(pending, reply, answer);
}

FillOutcome Filler::insert(const PendingFill& pending, const FillReply& reply,
                           const FillAnswer& answer) {
  auto copy = std::make_unique<cache::Copy>();
  copy->proof = pending.proof;
  copy->generation = pending.generation;
  copy->fill_sent_at = reply.sent_at;
  copy->answer_took_us = microseconds(reply.answered_at - reply.sent_at);
  copy->deadline = reply.sent_at + life_of(reply);
  if (reply.ttl) copy->value_ends = reply.sent_at + *reply.ttl;
  copy->nil = answer.nil;
  copy->read = pending.asked.read;
  copy->reply = answer.reply;
  copy->resp2 = answer.resp2;
  if (!shared_.table.insert(pending.asked.hash, std::move(copy))) return FillOutcome::kNoRoom;
  return answer.nil ? FillOutcome::kKeptNil : FillOutcome::kKept;
}

Nanos Filler::wait_for_expiry(const FillRequest& request, TimePoint now) const {
  const cache::Copy* copy = shared_.table.copy(request.hash, request.read);
  if (copy == nullptr || now < copy->value_ends) return Nanos(0);
  // The server computed the TTL at some moment between send and reply, so its own clock ends the
  // value up to this much later.
  const TimePoint ended =
      copy->value_ends + std::chrono::microseconds(copy->answer_took_us) + kTtlUnit;
  return std::clamp(ended - now, Nanos(0), kExpiryWaitMax);
}

// If the server does not show the rights of the proxy's user, only a new fill proves them, so
// copies live for acl-staleness at most.
Nanos Filler::life_of(const FillReply& reply) const {
  Nanos life = shared_.options().expire_after_write;
  if (reply.ttl) life = std::min(life, *reply.ttl);
  if (!source_->rights_known()) life = std::min(life, shared_.options().acl_staleness);
  return life;
}

void Filler::barrier(const BarrierRequest& request) {
  if (request.flush) {
    const std::set<cache::ProofIndex> all = up_.empty() ? std::set<cache::ProofIndex>{0} : up_;
    for (const cache::ProofIndex proof : all) flush(proof);
  }
  if (request.session == 0 && !request.after_code) return;  // nothing waits for the answer
  (request.after_code ? after_code_wanted_ : barriers_wanted_).push_back(request);
}

void Filler::send_barriers(TimePoint now) {
  if (!barriers_wanted_.empty()) {
    const std::uint64_t token = ++last_id_;
    barriers_.emplace(token, std::exchange(barriers_wanted_, {}));
    source_->barrier(token, now);
  }
  if (after_code_wanted_.empty() || after_code_token_ != 0) return;
  after_code_token_ = ++last_id_;
  barriers_.emplace(after_code_token_, std::exchange(after_code_wanted_, {}));
  source_->barrier(after_code_token_, now, true);
}

void Filler::on_barrier(std::uint64_t token) {
  if (token == after_code_token_) after_code_token_ = 0;
  const auto found = barriers_.find(token);
  for (const BarrierRequest& waited : found->second)
    if (waited.session != 0) listener_.release(waited);
  barriers_.erase(found);
}

void Filler::on_facts(const redis::ServerFacts& facts) {
  facts_ = facts;
  listener_.learn(facts);
}

// The tracker may have lost invalidations while it was down, so a new generation begins.
void Filler::up(cache::ProofIndex proof) {
  drop_proven(proof);
  const bool was_up = !up_.empty();
  up_.insert(proof);
  shared_.proofs[proof].set_up(true);
  state_ = "up";
  shared_.proof.set_up(true);
  if (!was_up) listener_.proof_state_changed("");
}

void Filler::heartbeat(cache::ProofIndex proof, TimePoint sent_at) {
  drop_lost_slots();
  if (sent_at > shared_.proofs[proof].proven_at()) shared_.proofs[proof].prove(sent_at);
}

void Filler::slot_lost(std::uint16_t slot) {
  if (slot_numbers_.empty()) slot_numbers_.resize(resp::kSlots);
  ++slot_numbers_[slot];
  if (lost_slots_.empty()) lost_slots_.resize(resp::kSlots);
  lost_slots_[slot] = true;
}

// As on_invalidate(), for all names of these slots.
void Filler::drop_lost_slots() {
  if (lost_slots_.empty()) return;
  cache::KeptNames& kept = shared_.kept_names;
  const auto for_each_lost = [this](auto visit) {
    for (std::uint16_t slot = 0; slot < resp::kSlots; ++slot)
      if (lost_slots_[slot]) visit(slot);
  };
  if (kept.any()) for_each_lost([&](std::uint16_t slot) { kept.note_slot_change(slot); });
  shared_.table.drop_keys_if(
      [this](const cache::Entry& entry) { return lost_slots_[resp::key_slot(entry.key())]; });
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see KeptNames
  bool is_kept = false;
  if (kept.any()) for_each_lost([&](std::uint16_t slot) { is_kept |= kept.has_slot(slot); });
  if (is_kept) listener_.kept_slots_lost(lost_slots_);
  lost_slots_.clear();
}

std::uint32_t Filler::slot_number_of(std::string_view key) const {
  return slot_numbers_.empty() ? 0 : slot_numbers_[resp::key_slot(key)];
}

void Filler::on_invalidate(std::string_view name) {
  counters_.add(Count::kInvalidations);
  const NameHash hash = hash_name(name, shared_.seed);
  if (shared_.kept_names.any()) shared_.kept_names.note_change(hash);
  shared_.table.for_each_cached_of(name, hash,
                                   [this](const cache::Entry& entry) { listener_.changed(entry); });
  shared_.table.drop_name(name, hash);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see KeptNames
  if (shared_.kept_names.has(hash)) listener_.kept_name_changed(hash);
}

void Filler::flush(cache::ProofIndex proof) {
  counters_.add(Count::kFlushes);
  drop_proven(proof);
  shared_.table.drop_all(proof);
}

// The user may have lost the right to read the copies.
void Filler::on_rights_changed() {
  flush_all();
  listener_.rights_changed();
}

void Filler::flush_all() {
  const std::set<cache::ProofIndex> all = up_.empty() ? std::set<cache::ProofIndex>{0} : up_;
  for (const cache::ProofIndex proof : all) flush(proof);
}

// All proofs have ended. Copies limited by their deadline alone stay for a while, and so do copies
// that an outage may serve.
void Filler::down(cache::ProofIndex proof, const std::string& reason) {
  counters_.add(Count::kTrackerLost);
  const bool was_up = up_.erase(proof) > 0 && up_.empty();
  shared_.proofs[proof].set_up(false);
  if (up_.empty()) state_ = reason;
  begin_generation(proof);
  shared_.table.drop_for_outage(proof);
  shared_.proof.set_up(!up_.empty());
  lost_.try_emplace(proof);
  if (was_up) listener_.proof_state_changed(reason);
}

// Since the loss the rights are unknown, so copies may stay for acl-staleness at most. Half of it
// may have passed at the loss (rights are asked for that often), and another quarter before this
// function noticed the loss. The last quarter remains.
void Filler::tick(TimePoint now) {
  for (auto at = lost_.begin(); at != lost_.end();) {
    if (!at->second) at->second = now;
    if (now - *at->second < shared_.options().acl_staleness / 4) {
      ++at;
      continue;
    }
    shared_.table.drop_proof_independent(at->first);
    at = lost_.erase(at);
  }
}

// What clients keep is of the generation before.
void Filler::begin_generation(cache::ProofIndex proof) {
  static_cast<void>(shared_.proofs[proof].begin_generation());
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see KeptNames
  if (shared_.kept_names.any()) listener_.kept_names_unproven();
}

void Filler::drop_proven(cache::ProofIndex proof) {
  begin_generation(proof);
  shared_.table.drop_proof_dependent(proof);
}

}  // namespace heatsink::copies
