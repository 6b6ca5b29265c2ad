// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/selector.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "heatsink/detect/judge.h"

namespace heatsink::detect {
namespace {

// A key under judgement: what it was, its evidence, and what it is to be.
struct Known {
  Verdict verdict;
  Standing standing;  // as of the last update
  Judgement next;

  bool was_hot() const { return standing.temperature == Temperature::kHot; }
  bool gets_hot() const { return next.temperature == Temperature::kHot; }
};

bool busier(const Known* a, const Known* b) {
  const KeyCount& x = a->verdict.count;
  const KeyCount& y = b->verdict.count;
  return x.low != y.low ? x.low > y.low : x.hash.value < y.hash.value;
}

void show_evidence(Verdict& verdict, const Summary& merged) {
  const double seconds = std::chrono::duration<double>(merged.window).count();
  const KeyCount& count = verdict.count;
  verdict.rate = verdict.rate_low = static_cast<double>(count.low) / seconds;
  verdict.rate_high = static_cast<double>(count.high) / seconds;
  verdict.share = merged.requests == 0
                      ? 0
                      : static_cast<double>(count.low) / static_cast<double>(merged.requests);
}

// The evidence of a key that the summary does not list.
KeyCount vanished(const KeyCount& before) {
  KeyCount count;
  count.hash = before.hash;
  count.key = before.key;
  count.db = before.db;
  count.key_truncated = before.key_truncated;
  return count;
}

}  // namespace

const char* to_string(Temperature temperature) {
  switch (temperature) {
    case Temperature::kCold:
      return "cold";
    case Temperature::kWarm:
      return "warm";
    case Temperature::kHot:
      return "hot";
    case Temperature::kWriteHot:
      return "write-hot";
  }
  return "cold";
}

struct Selector::State {
  explicit State(const SelectorOptions& selector_options) : options(selector_options) {
    options.keys_max = std::max<std::size_t>(options.keys_max, 1);
    hot_max = options.top_n == 0 ? options.keys_max
                                 : std::min<std::size_t>(options.top_n, options.keys_max);
  }

  void judge_all(const Summary& merged);
  void judge_one(Known& key, const KeyCount& count, const Summary& merged);
  void give_places(TimePoint at);
  bool clearly_busier(const Known& newcomer, const Known& holder) const;
  std::vector<Change> settle(TimePoint at);
  void forget_cold();

  SelectorOptions options;
  std::size_t hot_max;
  std::vector<Known> known;  // not cold; and, within update(), all keys under judgement
  std::vector<Verdict> verdicts;
};

void Selector::State::judge_one(Known& key, const KeyCount& count, const Summary& merged) {
  key.verdict.count = count;
  show_evidence(key.verdict, merged);
  const bool above = key.verdict.rate_low >= options.hot_qps;
  if (above && !key.standing.above) key.standing.above_since = merged.at;
  key.standing.above = above;
  key.next = judge(options, key.standing, key.verdict, merged.at, merged.window);
}

void Selector::State::judge_all(const Summary& merged) {
  std::unordered_map<std::uint64_t, std::size_t> unseen;
  for (std::size_t i = 0; i < known.size(); ++i) unseen[known[i].verdict.count.hash.value] = i;
  const std::size_t listed = std::min(merged.keys.size(), options.keys_max);
  for (const KeyCount& count : std::span(merged.keys).first(listed)) {
    if (const auto found = unseen.find(count.hash.value); found != unseen.end()) {
      judge_one(known[found->second], count, merged);
      unseen.erase(found);
      continue;
    }
    Known fresh;
    judge_one(fresh, count, merged);
    if (fresh.next.temperature != Temperature::kCold) known.push_back(std::move(fresh));
  }
  for (const auto& [hash, place] : unseen) {
    Known& key = known[place];
    judge_one(key, vanished(key.verdict.count), merged);
    if (key.next.temperature == Temperature::kCold) key.next.cause = Cause::kVanished;
    // Judged as zero: to hold a key hot takes evidence. Shown as what it may have been.
    key.verdict.count.high = merged.absent_max;
    show_evidence(key.verdict, merged);
  }
}

// At most hot_max keys are hot. A key that is hot keeps its place unless its residence is over and
// a newcomer is clearly busier, so that two equals do not push each other out for ever.
void Selector::State::give_places(TimePoint at) {
  std::vector<Known*> holders, newcomers;
  for (Known& key : known) {
    if (key.gets_hot()) (key.was_hot() ? holders : newcomers).push_back(&key);
  }
  std::size_t taken = holders.size();
  std::erase_if(holders, [&](const Known* holder) {
    return at - holder->standing.since < options.minimum_residence;
  });
  std::sort(holders.begin(), holders.end(), busier);
  std::sort(newcomers.begin(), newcomers.end(), busier);
  for (Known* newcomer : newcomers) {  // the busiest first, against the least busy holder
    if (taken < hot_max) {
      ++taken;
    } else if (!holders.empty() && clearly_busier(*newcomer, *holders.back())) {
      holders.back()->next = {Temperature::kWarm, Cause::kDisplaced};
      holders.pop_back();
    } else {
      newcomer->next = {Temperature::kWarm, Cause::kTopNFull};
    }
  }
}

bool Selector::State::clearly_busier(const Known& newcomer, const Known& holder) const {
  return holder.verdict.rate_high < newcomer.verdict.rate_low * options.demote_ratio;
}

// Makes the judgements the keys' state; says what changed.
std::vector<Change> Selector::State::settle(TimePoint at) {
  std::vector<Change> changes;
  for (Known& key : known) {
    const bool was_hot = key.was_hot();
    const bool temperature_changed = key.next.temperature != key.standing.temperature;
    if (temperature_changed) key.standing.since = at;
    if (temperature_changed || key.next.cause != key.standing.cause) {
      key.verdict.reason = sentence(key.next.cause, options, key.verdict);
    }
    key.standing.cause = key.next.cause;
    key.verdict.temperature = key.standing.temperature = key.next.temperature;
    key.verdict.since = key.standing.since;
    if (was_hot == key.gets_hot()) continue;
    changes.push_back({was_hot ? Change::Kind::kDemote : Change::Kind::kPromote, key.verdict});
  }
  return changes;
}

// Of too many keys the hot ones stay, and the busiest of the others.
void Selector::State::forget_cold() {
  std::erase_if(known, [](const Known& key) { return key.next.temperature == Temperature::kCold; });
  std::sort(known.begin(), known.end(), [](const Known& a, const Known& b) {
    return a.gets_hot() != b.gets_hot() ? a.gets_hot() : busier(&a, &b);
  });
  if (known.size() > options.keys_max) {
    known.erase(known.begin() + static_cast<std::ptrdiff_t>(options.keys_max), known.end());
  }
  std::vector<const Known*> order;
  for (const Known& key : known) order.push_back(&key);
  std::sort(order.begin(), order.end(), busier);
  verdicts.clear();
  for (const Known* key : order) verdicts.push_back(key->verdict);
}

Selector::Selector(const SelectorOptions& options) : state_(std::make_unique<State>(options)) {}

Selector::~Selector() = default;

std::vector<Change> Selector::update(const Summary& merged) {
  State& state = *state_;
  state.judge_all(merged);
  state.give_places(merged.at);
  std::vector<Change> changes = state.settle(merged.at);
  state.forget_cold();
  return changes;
}

const std::vector<Verdict>& Selector::verdicts() const { return state_->verdicts; }

}  // namespace heatsink::detect
