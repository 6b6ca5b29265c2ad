// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/first_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heatsink::app {
namespace {

double seconds_of(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

bool FirstAnswer::waits(std::span<const observe::Observation> seen, TimePoint now,
                        bool for_verdict) {
  const bool open = std::ranges::all_of(seen, [&](const observe::Observation& each) {
    return each.state == observe::SourceState::kStarting ||
           (for_verdict && each.state == observe::SourceState::kRunning &&
            !each.report.undecided.empty());
  });
  const bool away = std::ranges::none_of(
      seen, [](const observe::Observation& each) { return each.trouble.empty(); });
  if (!away) away_since_.reset();
  if (away && !away_since_) away_since_ = now;
  const bool given_up = away_since_ && now - *away_since_ > kAwayFor;
  return open && now - started_at_ < within_ && !given_up;
}

bool FirstAnswer::is_undecided(const observe::Observation& rows, const observe::CloserKey& key) {
  const report::Report& report = rows.report;
  if (!report.unseen_rate) return !report.undecided.empty() && rows.progress < 0;
  double most = report.absent_max.value_or(std::numeric_limits<double>::infinity());
  bool listed = false;
  for (const report::KeyReport& row : report.keys) {
    const detect::Verdict& verdict = row.verdict;
    if (!key.means(verdict.count.db, verdict.count.key)) continue;
    if (verdict.temperature == detect::Temperature::kHot ||
        verdict.temperature == detect::Temperature::kWriteHot)
      return false;
    const double here = observe::at_most(row, report);
    most = listed ? std::max(most, here) : here;
    listed = true;
  }
  return most >= report.hot || rows.may_be_pause;
}

bool FirstAnswer::waits_for(const observe::Observation& rows, const observe::CloserKey& key,
                            TimePoint now) {
  bool lacking = false, listed = false;
  for (std::size_t i = 0; i < rows.details.size() && i < rows.report.keys.size(); ++i) {
    const detect::KeyCount& count = rows.report.keys[i].verdict.count;
    lacking =
        lacking || (key.means(count.db, count.key) && !count.key_truncated && !rows.details[i]);
  }
  for (const report::KeyReport& row : rows.report.keys)
    listed = listed || key.means(row.verdict.count.db, row.verdict.count.key);
  const bool runs = rows.state == observe::SourceState::kRunning;
  const bool scans = runs && rows.progress >= 0 && !listed;
  const bool samples = runs && is_undecided(rows, key);
  if ((scans || samples) && now - started_at_ < within_) return true;
  if (lacking && !details_since_) details_since_ = now;
  return lacking && now - *details_since_ < kDetailsWithin;
}

std::optional<std::string> FirstAnswer::missing(const observe::Observation& seen,
                                                TimePoint now) const {
  if (seen.has_shown()) return std::nullopt;
  const std::string& why = seen.note.empty() ? seen.trouble : seen.note;
  if (seen.state == observe::SourceState::kFailed) return why;
  if (within_ == Nanos(0))  // a note is part of the picture
    return seen.trouble.empty() ? std::nullopt : std::optional(seen.trouble);
  const double tried_s = seconds_of(now - started_at_);
  if (!seen.trouble.empty()) return fmt::format("{} (tried for {:.1f} s)", why, tried_s);
  return fmt::format("{} has shown nothing in {:.1f} s: {}", seen.facts.name, tried_s,
                     why.empty() ? "its first window is not complete (--for)" : why);
}

}  // namespace heatsink::app
