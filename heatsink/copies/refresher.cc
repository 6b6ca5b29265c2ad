// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/refresher.h"

#include <algorithm>
#include <string_view>

namespace heatsink::copies {
namespace {

// Uniform in [0, 1), always the same for the same copy. The mixer is SplitMix64's.
double draw(ReadHash which, TimePoint filled) {
  std::uint64_t x =
      which.value + static_cast<std::uint64_t>(filled.time_since_epoch().count()) * 2 + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

ReadHash hash_of(KeyHash key, const cache::StoredRead& read) {
  std::vector<std::string_view> arguments;
  read.for_each_argument([&](std::string_view word) { arguments.push_back(word); });
  return hash_read(key, {read.command(), arguments});
}

bool is_renewed(FillOutcome outcome) {
  return outcome == FillOutcome::kKept || outcome == FillOutcome::kKeptNil;
}

}  // namespace

TimePoint renewal_of(const cache::Copy& copy, ReadHash which, double ahead) {
  const auto life = static_cast<double>((copy.deadline - copy.fill_sent_at).count());
  const double left = life * ahead * (1 + draw(which, copy.fill_sent_at));
  return copy.deadline - Nanos(static_cast<std::int64_t>(left));
}

std::vector<FillRequest> Refresher::due(TimePoint now) {
  std::vector<FillRequest> out;
  ++looks_;
  shared_.table.for_each_held_copy([&](const cache::Entry& entry, const cache::Copy& copy) {
    const ReadHash which = hash_of(entry.hash(), copy.read);
    if (!is_due(entry, copy, which, now) || !may_try(which, copy, now)) return;
    out.push_back(request_of(entry, copy, which));
  });
  counters_.add(Count::kRefreshes, out.size());
  // Forgets the attempts whose copies are gone or no longer due.
  std::erase_if(attempts_, [this](const auto& attempt) {
    return !attempt.second.under_way && attempt.second.seen != looks_;
  });
  return out;
}

bool Refresher::is_due(const cache::Entry& entry, const cache::Copy& copy, ReadHash which,
                       TimePoint now) const {
  const bool is_kept = entry.retained() && copy.read == cache::StoredRead();
  return (is_kept || copy.reads.load(std::memory_order_relaxed) > 0) &&
         copy.deadline < copy.value_ends && now < copy.deadline &&
         now >= renewal_of(copy, which, shared_.options().refresh_ahead.part) &&
         shared_.refreshes_copies_of(entry.key());
}

bool Refresher::may_try(ReadHash which, const cache::Copy& copy, TimePoint now) {
  if (under_way_ >= kUnderWayMax) return false;
  Attempt& attempt = attempts_[which.value];
  attempt.seen = looks_;
  if (attempt.under_way) return false;
  if (attempt.of != copy.fill_sent_at) attempt = {copy.fill_sent_at, now, 0, false, looks_};
  const auto failures_max = static_cast<std::uint32_t>(shared_.options().refresh_failures_max);
  if (attempt.failures >= failures_max || now < attempt.not_before) return false;
  attempt.under_way = true;
  ++under_way_;
  return true;
}

// The same fence as for a reader: not older than any write, nor than any value shown.
FillRequest Refresher::request_of(const cache::Entry& entry, const cache::Copy& copy,
                                  ReadHash which) const {
  const TimePoint fence =
      std::max(shared_.fences.fence_to_join(entry.fence()), entry.shown() - Nanos(1));
  return {FillRequest::kNoWorker, entry.hash(), entry.key(), entry.db(), fence, which, copy.read,
          entry.consistency()};
}

void Refresher::filled(const FillRequest& asked, FillOutcome outcome, TimePoint now) {
  const auto found = attempts_.find(asked.which.value);
  if (found == attempts_.end() || !found->second.under_way) return;
  Attempt& attempt = found->second;
  attempt.under_way = false;
  --under_way_;
  if (!is_renewed(outcome)) counters_.add(Count::kRefreshesFailed);
  // A key that changed meanwhile has no copy any more; its next reader asks for one.
  if (is_renewed(outcome) || outcome == FillOutcome::kSpoiled) {
    attempts_.erase(found);
    return;
  }
  ++attempt.failures;
  // Linear back-off.
  attempt.not_before = now + shared_.options().refresh_interval * attempt.failures;
  if (attempt.failures == static_cast<std::uint32_t>(shared_.options().refresh_failures_max))
    counters_.add(Count::kRefreshesGivenUp);
}

}  // namespace heatsink::copies
