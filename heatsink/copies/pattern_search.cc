// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/pattern_search.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heatsink::copies {
namespace {

// After a delay, the pages and keys of up to this time may be made up at once: the time between two
// steps.
constexpr Nanos kCatchUp = Millis(100);

redis::PipelineOptions pipeline_options(const NodeState& shared, std::uint32_t db) {
  return {.credentials = shared.credentials(),
          .name = "heatsink-warmer",
          .db = db,
          .response_timeout = shared.options().response_timeout};
}

Nanos seconds(double count) { return Nanos(static_cast<std::int64_t>(count * 1e9)); }

bool is_page(const resp::Value& reply) {
  const auto is_text = [](const resp::Value& name) { return name.is_text(); };
  return reply.items.size() == 2 && reply.items[0].is_text() &&
         std::all_of(reply.items[1].items.begin(), reply.items[1].items.end(), is_text);
}

}  // namespace

void PatternSearch::begin(TimePoint now) {
  state_ = State::kSearching;
  note_.clear();
  answered_at_ = now;
  pipeline_.emplace(pipeline_options(shared_, order_.pattern.db));
  reset_pass("");
}

// Earlier pages count no longer: the next connection may reach another server.
void PatternSearch::reset_pass(const std::string& why) {
  if (!why.empty()) note_ = why;
  cursor_ = "0";
  asked_ = at_end_ = false;
  page_.clear();
  looked_at_ = keys_in_db_ = 0;
  found_ = keys_.size();
  left_out_ = 0;
  left_out_names_.clear();
}

void PatternSearch::step(TimePoint now, Warmer& warmer) {
  if (!searching()) return;
  if (now >= order_.until) return end("its time has ended");
  if (!refusal_.empty()) return fail(std::exchange(refusal_, ""), now);
  if (pipeline_->up()) answered_at_ = now;
  if (now - answered_at_ > kUpWithin) return fail(note_, now);
  std::erase_if(loading_, [&](KeyHash key) {
    return !warmer.holds(key) || warmer.report_on(key).outcome != report::WarmOutcome::kLoading;
  });
  admit(now, warmer);
  if (!page_.empty() || asked_) return;
  if (at_end_) return finish_pass(now);
  if (now >= next_page_at_) ask(now);
}

void PatternSearch::ask(TimePoint now) {
  // A fixed rate that catches up kCatchUp at most.
  next_page_at_ = std::max(next_page_at_, now - kCatchUp) +
                  seconds(static_cast<double>(kPageKeys) / kKeysPerSecond);
  asked_ = true;
  // DBSIZE only serves the progress in reports.
  if (keys_in_db_ == 0) {
    const std::array<std::string_view, 1> size{"DBSIZE"};
    const auto take = [this](const Result<resp::Value>& reply) {
      if (reply.ok()) keys_in_db_ = static_cast<double>(reply->integer);
    };
    pipeline_->ask(size, take, now);
  }
  const std::string count = std::to_string(kPageKeys);
  const std::array<std::string_view, 6> scan{"SCAN",  cursor_, "MATCH", order_.pattern.glob,
                                             "COUNT", count};
  pipeline_->ask(
      scan, [this](Result<resp::Value> page) { take_page(std::move(page)); }, now);
}

void PatternSearch::take_page(Result<resp::Value> page) {
  if (!page.ok()) return reset_pass(page.error().message);
  asked_ = false;
  if (page->is_error()) {
    refusal_ = "the server refuses SCAN: " + page->text.substr(0, 200);
  } else if (!is_page(*page)) {
    refusal_ = "the server's reply to SCAN is malformed";
  } else {
    looked_at_ += static_cast<double>(kPageKeys);
    cursor_ = page->items[0].text;
    at_end_ = cursor_ == "0";
    for (resp::Value& name : page->items[1].items) page_.push_back(std::move(name.text));
  }
}

void PatternSearch::admit(TimePoint now, Warmer& warmer) {
  for (; !page_.empty(); page_.pop_front()) {
    std::string& name = page_.front();
    const KeyHash hash = warmer.hash_of({name, order_.pattern.db});
    if (begun_.contains(hash.value)) continue;
    if (keys_.size() >= order_.pattern.keys_max) {
      leave_out(name, "the limit is " + std::to_string(order_.pattern.keys_max) + " keys");
      continue;
    }
    if (!may_begin(now)) return;
    begin_key(std::move(name), now, warmer);
  }
}

bool PatternSearch::may_begin(TimePoint now) const {
  return loading_.size() < order_.pattern.loading_max && now >= next_key_at_;
}

void PatternSearch::begin_key(std::string name, TimePoint now, Warmer& warmer) {
  report::WarmKey key{std::move(name), order_.pattern.db};
  std::string why;
  if (!warmer.begin(key, order_.source, order_.until, now, why)) return leave_out(key.name, why);
  if (order_.pattern.keys_per_second > 0) {
    next_key_at_ =
        std::max(next_key_at_, now - kCatchUp) + seconds(1 / order_.pattern.keys_per_second);
  }
  const KeyHash hash = warmer.hash_of(key);
  ++found_;
  begun_.insert(hash.value);
  loading_.push_back(hash);
  keys_.push_back(std::move(key));
}

void PatternSearch::leave_out(const std::string& name, const std::string& why) {
  if (left_out_ == 0) note_ = why;
  ++found_;
  ++left_out_;
  if (left_out_names_.size() < report::WarmSearch::kNamesMax)
    left_out_names_.push_back(shared_.shown.show(name));
}

void PatternSearch::finish_pass(TimePoint now) {
  if (left_out_ == 0) note_.clear();
  state_ = order_.again_after > Nanos(0) ? State::kWaiting : State::kFinished;
  due_at_ = now + order_.again_after;
}

// A search of a configured window retries: nobody is there to order it again.
void PatternSearch::fail(const std::string& why, TimePoint now) {
  const bool by_hand = order_.source == Warmer::kByHand;
  state_ = by_hand ? State::kFailed : State::kWaiting;
  due_at_ = now + kRetryInterval;
  note_ = why.empty() ? "the server does not answer" : why;
}

void PatternSearch::end(const std::string& why) {
  if (over()) return;
  state_ = State::kEnded;
  note_ = why;
}

report::WarmSearch PatternSearch::report(const Warmer& warmer) const {
  report::WarmSearch out;
  out.id = id_;
  out.glob = order_.pattern.glob;
  out.db = order_.pattern.db;
  out.state = state_;
  out.note = note_;
  const bool through = state_ == State::kFinished || at_end_;
  out.progress = through ? 1 : keys_in_db_ > 0 ? std::min(looked_at_ / keys_in_db_, 1.0) : 0;
  out.found = found_;
  out.warmed = keys_.size();
  out.loading =
      static_cast<std::size_t>(std::count_if(loading_.begin(), loading_.end(), [&](KeyHash key) {
        return warmer.holds(key) && warmer.report_on(key).outcome == report::WarmOutcome::kLoading;
      }));
  out.left_out = left_out_;
  out.left_out_names = left_out_names_;
  out.until = order_.until;
  return out;
}

std::vector<report::WarmedKey> PatternSearch::keys(const Warmer& warmer) const {
  std::vector<report::WarmedKey> out;
  out.reserve(keys_.size());
  for (const report::WarmKey& key : keys_) {
    const KeyHash hash = warmer.hash_of(key);
    report::WarmedKey row;
    if (warmer.holds(hash)) {
      row = warmer.report_on(hash);
    } else {
      row.outcome = report::WarmOutcome::kNotWarmed;
      row.note = "it was ended, or warmed keys use up cache.warm-share of cache.maximum-bytes";
    }
    row.key = {shared_.shown.show(key.name), key.db};
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace heatsink::copies
