// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/auditor.h"

#include <utility>

#include "heatsink/copies/local_reads.h"
#include "heatsink/copies/read_question.h"

namespace heatsink::copies {
namespace {

using redis::FillReply;

ReplyOrder order_of(const cache::StoredRead& read) {
  return local_reads()[read.command()].unordered ? ReplyOrder::kFree : ReplyOrder::kMatters;
}

}  // namespace

AuditedHit::AuditedHit(const cache::Entry& entry, const cache::Copy& copy)
    : hash(entry.hash()),
      key(entry.key()),
      db(entry.db()),
      read(copy.read),
      generation(copy.generation),
      fill_sent_at(copy.fill_sent_at),
      max_staleness(entry.consistency().max_staleness),
      digest(reply_digest(copy.reply, order_of(copy.read))) {}

void Auditor::check(AuditedHit hit, TimePoint now) {
  if (!reader_->is_up()) {
    counters_.add(Count::kAuditsDroppedDown);
    return;
  }
  // Drops the audit instead of queueing it: memory and load stay bounded.
  if (asked_.size() >= kQuestionsMax) {
    counters_.add(Count::kAuditsDroppedFull);
    return;
  }
  const redis::FillId id = ++last_id_;
  const auto asked = asked_.emplace(id, std::move(hit)).first;
  const AuditedHit& kept = asked->second;
  reader_->fill(id, ReadQuestion(kept.key, kept.db, kept.read).get(), now);
}

void Auditor::on_filled(FillReply& reply) {
  const auto found = asked_.find(reply.id);
  AuditedHit hit = std::move(found->second);
  asked_.erase(found);
  if (reply.outcome == FillReply::Outcome::kFailed ||
      reply.outcome == FillReply::Outcome::kRefused) {
    counters_.add(Count::kAuditsFailed);
    return;
  }
  counters_.add(Count::kAudited);
  const bool same = reply.usable() && reply_digest(reply.reply, order_of(hit.read)) == hit.digest;
  if (!same) suspect(std::move(hit), reply.answered_at);
}

void Auditor::suspect(AuditedHit hit, TimePoint now) {
  counters_.add(Count::kAuditsSuspected);
  if (!may_be_served(hit, now)) {
    staleness_.observe(Nanos(0));
  } else if (suspects_.size() >= kSuspectsMax) {
    counters_.add(Count::kAuditsDroppedFull);
  } else {
    suspects_.push_back({std::move(hit), now, now});
  }
}

void Auditor::look(TimePoint now) {
  std::erase_if(suspects_, [&](Suspect& each) { return !look_at(each, now); });
}

// Returns false if the copy can no longer be served.
bool Auditor::look_at(Suspect& suspect, TimePoint now) {
  if (!may_be_served(suspect.hit, now)) {
    staleness_.observe(suspect.served_at - suspect.differed_at);
    return false;
  }
  suspect.served_at = now;
  const Nanos stale_for = now - suspect.differed_at;
  if (stale_for > suspect.hit.max_staleness && !std::exchange(suspect.reported, true)) {
    counters_.add(Count::kAuditsStale);
    listener_.stale_read(suspect.hit, stale_for, now);
  }
  return true;
}

// Applies the workers' rule, for a client without earlier replies. The keeper's thread writes the
// table, so it may read it without an epoch.
bool Auditor::may_be_served(const AuditedHit& hit, TimePoint now) const {
  const cache::Entry* const entry = shared_.table.entry(hit.hash);
  if (entry == nullptr || entry->key() != hit.key || entry->db() != hit.db) return false;
  std::vector<std::string_view> arguments;
  hit.read.for_each_argument([&](std::string_view word) { arguments.push_back(word); });
  const cache::ServeDecision decision = cache::judge(
      *entry, {hit.read.command(), arguments}, shared_.proofs, shared_.fences, now, TimePoint{});
  return decision.copy != nullptr && decision.copy->generation == hit.generation &&
         decision.copy->fill_sent_at == hit.fill_sent_at;
}

}  // namespace heatsink::copies
