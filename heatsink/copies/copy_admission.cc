// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_admission.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heatsink/copies/keeper_options.h"
#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {
namespace {

// Entries looked at per tick(). Of 65 536 keys each has its turn within 8 s; 8192 take about 1 ms
// if no CPU cache holds them.
constexpr std::size_t kSweptPerTick = 8192;

void add_copies_of(const cache::Entry& entry, report::CopiesReport::Copy& out) {
  entry.for_each_copy([&](const cache::Copy& copy) {
    std::string command = upper_name(local_reads()[copy.read.command()]);
    if (std::find(out.commands.begin(), out.commands.end(), command) == out.commands.end())
      out.commands.push_back(std::move(command));
  });
  out.bytes = Bytes{entry.bytes()};
}

}  // namespace

CopyAdmission::CopyAdmission(NodeState& shared, Counters& counters, const Warmer& warmer,
                             TimePoint now)
    : shared_(shared), counters_(counters), warmer_(warmer), savings_(now) {
  if (shared.admission)
    chooser_.emplace(chooser_options(shared.options()), *shared.admission, shared.table);
}

// The key's fence begins now, and the fill must be younger. Without room the fill still answers the
// read.
void CopyAdmission::admit(FillRequest& request, TimePoint now) {
  if (shared_.table.entry(request.hash) != nullptr) return;  // another worker was first
  // The worker may have asked by rules that are no longer the present ones.
  const PolicySnapshot& policy = shared_.current();
  const std::size_t rule = policy.rule_of(request.key);
  if (policy.copies_for[rule] != policy::CopiesFor::kWhatPays) return;
  request.consistency = policy.consistency[rule];
  request.fence = std::max(request.fence, now);
  static_cast<void>(shared_.table.admit(request.key, request.db, request.hash,
                                        hash_name(request.key, shared_.seed), now,
                                        request.consistency));
}

void CopyAdmission::filled(const FillRequest& asked, FillOutcome outcome) {
  if (chooser_ && outcome == FillOutcome::kKept) {
    if (const cache::Copy* copy = shared_.table.copy(asked.hash, asked.read))
      chooser_->filled(asked.hash, copy->deadline - copy->fill_sent_at);
  }
  if (outcome != FillOutcome::kFailed) savings_.filled(asked.hash);
  if (outcome == FillOutcome::kTooBig) counters_.add(Count::kTooBig);
  if (outcome == FillOutcome::kNoRoom || outcome == FillOutcome::kTableFull)
    counters_.add(Count::kNoRoom);
}

void CopyAdmission::follow(std::span<const detect::Change> changes,
                           std::span<const detect::Verdict> verdicts, TimePoint now) {
  for (const detect::Change& change : changes) {
    if (change.kind == detect::Change::Kind::kNotice) continue;  // a notice is for people only
    const bool promoted = change.kind == detect::Change::Kind::kPromote;
    counters_.add(promoted ? Count::kPromotions : Count::kDemotions);
    const KeyHash key = change.verdict.count.hash;
    if (!promoted && !warmer_.holds(key)) cool_down(change.verdict.count);
  }
  if (!shared_.options().cache_enabled) return;
  // Hot keys that found no room are tried again, because another key may have left.
  for (const detect::Verdict& verdict : verdicts) {
    if (verdict.temperature != detect::Temperature::kHot) continue;
    const KeyHash key = verdict.count.hash;
    if (!is_worth_holding(verdict)) {
      if (!warmer_.holds(key)) shared_.table.release(key);
    } else if (!shared_.table.hold(key)) {
      promote(verdict, now);
    }
  }
}

// A rule or option may want copies of hot keys whatever they cost.
bool CopyAdmission::is_worth_holding(const detect::KeyCount& count) const {
  if (!chooser_) return true;
  const cache::Entry* const entry = shared_.table.entry(count.hash);
  if (chooser_->is_worth_holding(count, entry != nullptr && entry->stays())) return true;
  return copies_for(count) != policy::CopiesFor::kWhatPays;
}

bool CopyAdmission::is_worth_holding(const detect::Verdict& verdict) const {
  return is_worth_holding(verdict.count) || is_worth_holding_in_fleet(verdict);
}

policy::CopiesFor CopyAdmission::copies_for(const detect::KeyCount& count) const {
  return shared_.copies_for()[shared_.rule_of(count.key, !count.key_truncated)];
}

// A key that is no longer hot may still be worth its copy: then it stays until it is evicted.
void CopyAdmission::cool_down(const detect::KeyCount& count) {
  if (copies_for(count) == policy::CopiesFor::kWhatPays) {
    shared_.table.release(count.hash);
  } else {
    shared_.table.demote(count.hash);
  }
}

// A key that is hot in the fleet has its share of readers here, even if none has come yet.
bool CopyAdmission::is_worth_holding_in_fleet(const detect::Verdict& verdict) const {
  if (!verdict.fleet) return false;
  detect::KeyCount part = verdict.count;
  part.reads = verdict.fleet->reads / std::max<std::uint64_t>(verdict.fleet->instances, 1);
  part.writes = verdict.fleet->writes;  // each of them ends the copy here, too
  return is_worth_holding(part);
}

void CopyAdmission::promote(const detect::Verdict& verdict, TimePoint now) {
  const detect::KeyCount& count = verdict.count;
  if (count.key_truncated) return;  // its whole name is unknown
  const std::size_t rule = shared_.rule_of(count.key);
  const cache::ConsistencyPolicy& consistency = shared_.consistency()[rule];
  if (shared_.copies_for()[rule] == policy::CopiesFor::kNone) return;
  const bool makes_room = shared_.copies_for()[rule] == policy::CopiesFor::kWhatPays;
  if (!makes_room && !shared_.table.has_room()) return;
  const NameHash name = hash_name(count.key, shared_.seed);
  // A hot key has more readers than one that only pays, so it takes that one's entry.
  if (makes_room) {
    static_cast<void>(shared_.table.admit(count.key, count.db, count.hash, name, now, consistency));
    static_cast<void>(shared_.table.hold(count.hash));
  } else {
    static_cast<void>(
        shared_.table.promote(count.key, count.db, count.hash, name, now, consistency));
  }
}

void CopyAdmission::play(const WorkerSample& sample, TimePoint now) {
  if (!chooser_) return;
  chooser_->saw(sample.work);
  chooser_->play(sample.accesses, now);
  savings_.hit(sample.hits);
}

void CopyAdmission::set_server_scale(const admit::Scale& scale) {
  if (chooser_) chooser_->set_server_scale(scale);
}

void CopyAdmission::tick(TimePoint now, Nanos cpu) {
  if (!chooser_) return;
  note_own_work(now, cpu);
  chooser_->tick(now);
  savings_.tick(now);
  // Where nothing is copied any more, entries without a copy only make each look-up dearer.
  const bool copies_nothing = chooser_->choice().reads == admit::Choice::kNever;
  shared_.table.drop_unfilled(now - (copies_nothing ? 1 : 2) * shared_.options().expire_after_write,
                              (copies_nothing ? 4 : 1) * kSweptPerTick);
}

void CopyAdmission::note_own_work(TimePoint now, Nanos cpu) {
  const CopyChooser::KeeperWork total{.time = now.time_since_epoch(),
                                      .cpu = cpu,
                                      .fills = counters_.read(Count::kFills),
                                      .ends = counters_.read(Count::kInvalidations),
                                      .held_ends = held_ends_};
  const CopyChooser::KeeperWork before = std::exchange(own_work_, total);
  if (before.time != Nanos(0)) chooser_->saw(total - before);
}

void CopyAdmission::ended(const cache::Entry& entry) {
  savings_.ended(entry.hash());
  if (entry.stays()) ++held_ends_;
}

Learned CopyAdmission::learned() const { return chooser_ ? chooser_->learned() : Learned{}; }

void CopyAdmission::begin_with(const Learned& learned) {
  if (chooser_) chooser_->begin_with(learned);
}

// What a key's copies may do from now on; nothing: it may have none.
std::optional<cache::ConsistencyPolicy> CopyAdmission::consistency_now(
    const cache::Entry& entry) const {
  const PolicySnapshot& policy = shared_.current();
  const std::size_t rule = policy.rule_of(entry.key());
  const bool is_allowed =
      policy.options.cache_enabled && policy.consistency[rule].level != cache::Level::kOff &&
      (policy.copies_for[rule] == policy::CopiesFor::kWhatPays ||
       (policy.copies_for[rule] == policy::CopiesFor::kHotKeys && entry.stays()) ||
       entry.retained());
  if (!is_allowed) return std::nullopt;
  return policy.consistency[rule];
}

void CopyAdmission::set_table_policies(const policy::ProxyOptions& before, bool rights_known) {
  const policy::ProxyOptions& options = shared_.options();
  shared_.table.set_policies([this](const cache::Entry& entry) { return consistency_now(entry); });
  shared_.table.set_limits(table_limits(options));
  if (options.expire_after_write < before.expire_after_write)
    shared_.table.drop_longer_lived(options.expire_after_write);
  if (options.acl_staleness < before.acl_staleness && !rights_known)
    shared_.table.drop_longer_lived(options.acl_staleness);
}

void CopyAdmission::follow_options(const admit::Scale& server_scale) {
  const CopyChooser::Options options = chooser_options(shared_.options());
  if (chooser_) {
    chooser_->adopt(options);
  } else if (shared_.admission) {
    chooser_.emplace(options, *shared_.admission, shared_.table);
    chooser_->set_server_scale(server_scale);
  }
}

std::vector<KeyHash> CopyAdmission::best_keys(std::span<const detect::Verdict> verdicts,
                                              std::size_t count_max, TimePoint now) const {
  std::vector<KeyHash> best;
  for (const detect::Verdict& verdict : verdicts)
    if (verdict.temperature == detect::Temperature::kHot) best.push_back(verdict.count.hash);
  if (!chooser_) return best;
  const auto is_kept = [this](KeyHash key) { return shared_.table.has_copy(key); };
  for (const admit::CopySaving& saving : savings_.top(count_max, chooser_->costs(), now, is_kept))
    best.push_back(saving.key);
  return best;
}

std::optional<report::CopiesReport> CopyAdmission::report(TimePoint now) const {
  if (!chooser_) return std::nullopt;
  report::CopiesReport copies;
  const admit::CostedChooser& chooser = chooser_->chooser();
  const admit::Choice& choice = chooser.choice();
  if (choice.reads != admit::Choice::kNever)
    copies.choice = {.reads = choice.reads,
                     .history = chooser.history(),
                     .order = choice.order == admit::EvictionOrder::kSieve ? "sieve" : "clock"};
  copies.saved = chooser.saved();
  const admit::Costs costs = chooser.costs();
  copies.fill_cost = costs.fill;
  copies.fill_cost_spread = chooser_->fill_cost_spread();
  copies.invalidation_cost = costs.end;
  copies.read_cpu = chooser_->spared_cpu();
  copies.proxy_read_cpu = chooser_->spared_proxy_cpu();
  copies.proxy_fill_cpu = chooser_->keeper_cpu();
  const CopyChooser::Measured measured = chooser_->measured();
  copies.prices = {.server = measured.server,
                   .keeper = measured.keeper,
                   .worker = measured.worker,
                   .fill_wait = measured.wait};
  copies.refused = {.written = shared_.table.left_early(),
                    .too_big = counters_.read(Count::kTooBig),
                    .no_room = counters_.read(Count::kNoRoom)};
  copies.entries_max = chooser.copies();
  copies.bytes_max = shared_.options().maximum_bytes;
  for (const admit::CopyCurve::Point& point : chooser.curve())
    copies.curve.push_back({point.copies, point.saved});
  copies.top = best_copies(now);
  return copies;
}

// Most of these keys are not among the hot and warm ones.
std::vector<report::CopiesReport::Copy> CopyAdmission::best_copies(TimePoint now) const {
  const auto is_kept = [this](KeyHash key) { return shared_.table.entry(key) != nullptr; };
  std::vector<report::CopiesReport::Copy> copies;
  for (const admit::CopySaving& saving :
       savings_.top(report::CopiesReport::kTopMax, chooser_->costs(), now, is_kept)) {
    const cache::Entry& entry = *shared_.table.entry(saving.key);
    report::CopiesReport::Copy& copy = copies.emplace_back();
    copy.name = shared_.shown.show(entry.key());
    copy.name_truncated = copy.name.size() > detect::kKeyBytesMax;
    if (copy.name_truncated) copy.name.resize(detect::kKeyBytesMax);
    copy.db = entry.db();
    copy.hits = saving.hits;
    copy.hits_error = saving.hits_error;
    copy.fills = saving.fills;
    copy.invalidations = saving.ends;
    copy.saved = saving.saved;
    add_copies_of(entry, copy);
  }
  return copies;
}

}  // namespace heatsink::copies
