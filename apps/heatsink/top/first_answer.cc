// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/first_answer.h"

#include <fmt/format.h>

#include <algorithm>

namespace heatsink::app {
namespace {

double seconds_of(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

bool FirstAnswer::waits(std::span<const observe::Observation> seen, TimePoint now) {
  const bool starting = std::ranges::all_of(seen, [](const observe::Observation& each) {
    return each.state == observe::SourceState::kStarting;
  });
  const bool away = std::ranges::none_of(
      seen, [](const observe::Observation& each) { return each.trouble.empty(); });
  if (!away) away_since_.reset();
  if (away && !away_since_) away_since_ = now;
  const bool given_up = away_since_ && now - *away_since_ > kAwayFor;
  return starting && now - started_at_ < within_ && !given_up;
}

bool FirstAnswer::waits_for(const observe::Observation& rows, const observe::CloserKey& key,
                            TimePoint now) {
  bool lacking = false;
  for (std::size_t i = 0; i < rows.details.size() && i < rows.report.keys.size(); ++i) {
    const detect::KeyCount& count = rows.report.keys[i].verdict.count;
    lacking =
        lacking || (key.means(count.db, count.key) && !count.key_truncated && !rows.details[i]);
  }
  const bool scans = rows.state == observe::SourceState::kRunning && rows.progress >= 0;
  if (scans && now - started_at_ < within_) return true;
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
