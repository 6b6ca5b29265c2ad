// SPDX-License-Identifier: Apache-2.0
// How the keeper takes the counts of the workers, and judges from them which keys are hot.
#include <algorithm>
#include <utility>

#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {
namespace {

// Judging the keys takes at most half of the keeper's time, but is not put off for longer.
constexpr Nanos kJudgePauseMax = Millis(200);

}  // namespace

void CopyKeeper::play(std::size_t worker, const WorkerSample& sample) {
  if (inbox_.put(worker, sample)) look_into_inbox();
}

void CopyKeeper::post_summaries(std::size_t worker, std::vector<detect::Summary> summaries,
                                bool urgent) {
  if (inbox_.put(worker, std::move(summaries), urgent)) look_into_inbox();
}

void CopyKeeper::look_into_inbox() {
  loop_.post([this] { take_from_inbox(); });
}

void CopyKeeper::take_from_inbox() {
  inbox_.begin_to_take();
  for (std::size_t worker = 0; worker < inbox_.workers(); ++worker) {
    WorkerInbox::Content content = inbox_.take(worker);
    for (detect::Summary& summary : content.summaries) take_summary(worker, std::move(summary));
    judges_ |= content.is_urgent;
    if (!chooser_ || content.sample.empty()) continue;
    chooser_->saw(content.sample.work);
    chooser_->play(content.sample.accesses, loop_.clock());
    savings_.hit(content.sample.hits);
  }
}

// After a change of the rules a worker may still count by the old ones for a moment.
void CopyKeeper::take_summary(std::size_t worker, detect::Summary summary) {
  const auto measures = shared_.rules().measures();
  const detect::Measure measure{summary.window, summary.dimension};
  const auto found = std::find(measures.begin(), measures.end(), measure);
  if (found == measures.end()) return;
  summaries_[static_cast<std::size_t>(found - measures.begin())][worker] = std::move(summary);
}

// At most once per turn. With thousands of keys from each worker it takes tens of milliseconds, and
// detection.tick may be 10 ms: fills and barriers need the keeper, too.
void CopyKeeper::judge_if_due() {
  if (!judges_) return;
  const TimePoint began = loop_.clock();
  if (began < judges_from_) {
    if (judge_timer_ == 0) judge_timer_ = loop_.call_at(judges_from_, [this] { judge_timer_ = 0; });
    return;
  }
  judges_ = false;
  update_hot_keys();
  const TimePoint ended = loop_.clock();
  judges_from_ = ended + std::min(ended - began, kJudgePauseMax);
}

// As the report of the same moment has it.
EventLog::Reliefs CopyKeeper::reliefs() {
  return {.of_key =
              [this](const detect::Verdict& verdict) {
                return report::relief_of(
                    verdict.count, spared_of(verdict.count, counted_seconds(verdict.measure)));
              },
          .of_all =
              [this] {
                return report::relief_of_all(merged_.front(), load_of_window().load.taken_off());
              }};
}

void CopyKeeper::update_hot_keys() {
  for (std::size_t i = 0; i < merged_.size(); ++i)
    merged_[i] = detect::merge(summaries_[i], kMergedKeys);
  follow_fleet(loop_.clock());
  std::vector<detect::Change> changes = selector_.update(merged_, fleet_windows_);
  apply(changes);
  update_replica_reads();
  // A warmed key stays hot. Its event follows when the warming ends.
  std::erase_if(changes, [this](const detect::Change& change) {
    return change.kind == detect::Change::Kind::kDemote &&
           change.verdict.temperature != detect::Temperature::kWriteHot &&
           warmer_.holds(change.verdict.count.hash);
  });
  for (detect::Change& change : changes) shared_.shown.hide(change.verdict.count);
  events_.add(changes, hot_keys(), loop_.now(), reliefs());
  if (shared_.limits() && shared_.limits()->automatic() != nullptr) limit_the_hottest(loop_.now());
  shared_.table.retry(loop_.now());
}

}  // namespace heatsink::copies
