// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/pattern_searches.h"

#include <algorithm>

#include "heatsink/base/log.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

// A configured window has no caller that waits for the result, so the log gets it.
void log_result(const PatternSearch& search, const report::WarmSearch& report) {
  if (search.order().source == Warmer::kByHand || report.note.empty()) return;
  std::string line = "warming " + std::to_string(search.order().source) + ": ";
  if (report.left_out > 0) {
    line += std::to_string(report.left_out) + " of " + std::to_string(report.found) +
            " keys are not warmed: ";
  }
  log(LogLevel::kWarning, line + report.note);
}

}  // namespace

Result<std::uint64_t> PatternSearches::begin_by_hand(const report::WarmPattern& pattern,
                                                     TimePoint until, TimePoint now) {
  const auto by_hand =
      std::count_if(searches_.begin(), searches_.end(), [](const PatternSearch& search) {
        return search.order().source == Warmer::kByHand && !search.over();
      });
  if (static_cast<std::size_t>(by_hand) >= kByHandMax) {
    return Error{ErrorCode::kOutOfRange,
                 std::to_string(kByHandMax) + " searches are running: wait until one has finished"};
  }
  return add({pattern, Warmer::kByHand, until}, now).id();
}

void PatternSearches::begin(const PatternSearch::Order& order, TimePoint now) { add(order, now); }

PatternSearch& PatternSearches::add(PatternSearch::Order order, TimePoint now) {
  forget();
  return searches_.emplace_back(++last_id_, std::move(order), shared_, now);
}

void PatternSearches::forget() {
  auto over = std::count_if(searches_.begin(), searches_.end(),
                            [](const PatternSearch& search) { return search.over(); });
  for (auto it = searches_.begin();
       it != searches_.end() && static_cast<std::size_t>(over) > kOverMax;) {
    // The search under way may be over, but its connection still refers to it.
    const bool goes = it->over() && &*it != now_;
    over -= goes ? 1 : 0;
    it = goes ? searches_.erase(it) : std::next(it);
  }
}

void PatternSearches::end(std::uint64_t id) {
  for (PatternSearch& search : searches_) {
    if (search.id() == id) search.end("it was ended on request");
  }
}

void PatternSearches::end_by_hand(const report::WarmPattern& pattern) {
  for (PatternSearch& search : searches_) {
    const report::WarmPattern& its = search.order().pattern;
    if (its.glob == pattern.glob && its.db == pattern.db) search.end("it was ended on request");
  }
}

void PatternSearches::end_source(std::uint32_t source) {
  for (PatternSearch& search : searches_) {
    if (search.order().source == source) search.end("its time is over");
  }
}

void PatternSearches::step(TimePoint now) {
  if (now_ == nullptr) {
    const auto due = std::find_if(searches_.begin(), searches_.end(),
                                  [&](const PatternSearch& each) { return each.is_due(now); });
    if (due == searches_.end()) return;
    now_ = &*due;
    now_->begin(now);
    connection_.emplace(loop_, shared_.upstream_address, now_->protocol(),
                        shared_.connection_options(), "search for keys to warm");
    connection_->connect();
  }
  connection_->tick();
  now_->step(now, warmer_);
  if (now_->searching()) return connection_->flush();
  log_result(*now_, now_->report(warmer_));
  connection_.reset();
  now_ = nullptr;
}

const PatternSearch* PatternSearches::find(std::uint64_t id) const {
  const auto found = std::find_if(searches_.begin(), searches_.end(),
                                  [&](const PatternSearch& each) { return each.id() == id; });
  return found == searches_.end() ? nullptr : &*found;
}

std::vector<report::WarmSearch> PatternSearches::report() const {
  std::vector<report::WarmSearch> out;
  out.reserve(searches_.size());
  for (auto it = searches_.rbegin(); it != searches_.rend(); ++it)
    out.push_back(it->report(warmer_));
  return out;
}

}  // namespace heatsink::copies
