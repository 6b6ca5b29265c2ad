// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/selector.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <set>
#include <utility>

#include "heatsink/detect/classify.h"
#include "heatsink/detect/hash_index.h"
#include "heatsink/detect/known_key.h"
#include "heatsink/detect/reason.h"
#include "heatsink/detect/top_n_policy.h"

namespace heatsink::detect {
namespace {

SelectorOptions sane(SelectorOptions options) {
  options.keys_max = std::max<std::size_t>(options.keys_max, 1);
  return options;
}

// Removes the counts of a key that the summary does not list.
void clear_counts(KeyCount& count) {
  count.low = count.high = 0;
  count.reads = count.writes = count.hits = count.bytes = 0;
  count.commands.clear();
  count.clients.clear();
}

void show_evidence(Verdict& verdict, const KnownKey& key) {
  verdict.rate = verdict.rate_low = key.here.rate_low;
  verdict.rate_high = key.here.rate_high;
  verdict.share = key.here.share_low;
  verdict.heat = key.evidence.heat_low;
  verdict.fleet.reset();
  if (key.fleet_count == nullptr) return;
  verdict.fleet = {.rate_low = key.fleet.rate_low,
                   .rate_high = key.fleet.rate_high,
                   .share = key.fleet.share_low,
                   .instances = key.fleet.instances,
                   .reads = key.fleet_count->reads,
                   .writes = key.fleet_count->writes};
}

// More instances bring whole windows of counts at once, which are no burst.
bool has_grown(std::uint64_t before, std::uint64_t instances) {
  return instances > before + before / 16;
}

}  // namespace

struct Selector::State {
  explicit State(const SelectorOptions& given)
      : options(sane(given)), policy(options), windows(options.rules.measures().size()) {}

  std::vector<Change> update(std::span<const Summary> merged, std::span<const FleetWindow> fleet);
  void reconfigure(const SelectorOptions& given);
  void collect(const Summary& merged, std::size_t measure);
  void collect_fleet(std::span<const FleetWindow> fleet);
  KnownKey& know(const KeyCount& count);
  void find_rule(KnownKey& key, const KeyCount& count) const;
  void judge_here(KnownKey& key, const Summary& merged) const;
  void judge_in_fleet(KnownKey& key, const FleetWindow& fleet) const;
  void classify_one(KnownKey& key, const Summary& merged, const FleetWindow* fleet) const;
  void remember(std::span<const Summary> merged, std::span<const FleetWindow> fleet);
  void order_by_heat();
  std::vector<Change> apply(TimePoint at);
  Verdict verdict_of(KnownKey& key, TimePoint at);
  std::string reason_now(const Verdict& verdict) const;
  void forget();

  // The highest possible count of an unlisted key at the last update; by measure.
  struct Window {
    bool is_known = false;
    TimePoint at{};
    std::uint64_t absent_max = 0;
  };
  struct FleetSeen : Window {
    std::uint64_t instances = 0;
  };

  SelectorOptions options;
  TopNPolicy policy;
  std::vector<Window> windows;
  std::vector<FleetSeen> fleet_seen;  // empty: no fleet at the last update
  std::vector<KnownKey> known;
  HashIndex index;               // of `known`
  std::vector<KnownKey*> order;  // during update(): the keys that will not be cold
  std::vector<Verdict> verdicts;
};

std::vector<Change> Selector::State::update(std::span<const Summary> merged,
                                            std::span<const FleetWindow> fleet) {
  assert(merged.size() == windows.size());
  assert(fleet.empty() || fleet.size() == merged.size());
  const std::size_t count = std::min(merged.size(), windows.size());
  TimePoint at{};
  for (std::size_t i = 0; i < count; ++i) {
    collect(merged[i], i);
    at = std::max(at, merged[i].at);
  }
  collect_fleet(fleet);
  for (KnownKey& key : known) {
    if (key.measure < count)
      classify_one(key, merged[key.measure], fleet.empty() ? nullptr : &fleet[key.measure]);
  }
  remember(merged.first(count), fleet);
  policy.apply(known, at);
  order_by_heat();
  std::vector<Change> changes = apply(at);
  forget();
  return changes;
}

void Selector::State::collect(const Summary& merged, std::size_t measure) {
  for (const KeyCount& count : merged.keys) {
    KnownKey& key = know(count);
    key.is_listed = true;
    if (key.measure == measure) key.count = &count;
  }
}

void Selector::State::collect_fleet(std::span<const FleetWindow> fleet) {
  for (std::size_t i = 0; i < fleet.size(); ++i) {
    if (i >= fleet_seen.size() || !has_grown(fleet_seen[i].instances, fleet[i].instances)) continue;
    fleet_seen[i] = {};
    for (KnownKey& key : known) key.fleet_sightings = {};
  }
  for (std::size_t i = 0; i < fleet.size(); ++i) {
    for (const KeyCount& count : fleet[i].counts.keys) {
      KnownKey& key = know(count);
      key.is_listed = true;
      if (key.measure == i) key.fleet_count = &count;
    }
  }
}

void Selector::State::remember(std::span<const Summary> merged,
                               std::span<const FleetWindow> fleet) {
  for (std::size_t i = 0; i < merged.size(); ++i)
    windows[i] = {true, merged[i].at, merged[i].absent_max};
  fleet_seen.resize(fleet.size());
  for (std::size_t i = 0; i < fleet.size(); ++i) {
    const Summary& counts = fleet[i].counts;
    static_cast<Window&>(fleet_seen[i]) = {counts.window > Nanos{}, counts.at, counts.absent_max};
    fleet_seen[i].instances = fleet[i].instances;
  }
}

KnownKey& Selector::State::know(const KeyCount& count) {
  std::uint32_t at = index.find(count.hash);
  if (at == HashIndex::kNone) {
    at = static_cast<std::uint32_t>(known.size());
    index.add(count.hash, at);
    known.emplace_back().hash = count.hash;
  }
  KnownKey& key = known[at];
  // A summary may bring more of a long name than the last one, and then another rule may match.
  if (key.rule == nullptr || key.name_bytes < count.key.size()) find_rule(key, count);
  return key;
}

void Selector::State::find_rule(KnownKey& key, const KeyCount& count) const {
  const bool is_new = key.rule == nullptr;
  key.rule = &options.rules.of(count.key, !count.key_truncated);
  key.measure = options.rules.measure_of(*key.rule);
  key.name_bytes = count.key.size();
  if (const Window& before = windows[key.measure]; is_new && before.is_known) {
    key.sightings.add(before.at, before.absent_max, burst_span(*key.rule));
  }
  if (is_new && key.measure < fleet_seen.size() && fleet_seen[key.measure].is_known) {
    const FleetSeen& before = fleet_seen[key.measure];
    key.fleet_sightings.add(before.at, before.absent_max, burst_span(*key.rule));
  }
}

void Selector::State::judge_here(KnownKey& key, const Summary& merged) const {
  const Rule& rule = *key.rule;
  const Nanos span = burst_span(rule);
  if (key.count != nullptr) {
    const Gain gain = key.sightings.gain(merged.at, key.count->low, span, span);
    key.here = evidence_of(rule, merged, *key.count);
    look_for_burst(key.here, rule, *key.count, gain, span, options.burst);
  } else {
    key.here = evidence_of_unlisted(rule, merged);
  }
  key.sightings.add(merged.at, key.count == nullptr ? merged.absent_max : key.count->high, span);
}

void Selector::State::judge_in_fleet(KnownKey& key, const FleetWindow& fleet) const {
  const Summary& counts = fleet.counts;
  const Nanos span = burst_span(*key.rule, fleet.step);
  if (key.fleet_count == nullptr) {
    if (counts.window > Nanos{}) key.fleet_sightings.add(counts.at, counts.absent_max, span);
    return;
  }
  const Gain gain = key.fleet_sightings.gain(counts.at, key.fleet_count->low, span,
                                             longest_burst_span(*key.rule));
  key.fleet = evidence_of(*key.rule, counts, *key.fleet_count);
  look_for_burst(key.fleet, *key.rule, *key.fleet_count, gain, span, options.burst);
  key.fleet.instances = fleet.instances;
  key.fleet.rate_here = key.here.rate_low;
  key.fleet_sightings.add(counts.at, key.fleet_count->high, span);
}

void Selector::State::classify_one(KnownKey& key, const Summary& merged,
                                   const FleetWindow* fleet) const {
  const Rule& rule = *key.rule;
  judge_here(key, merged);
  if (fleet != nullptr) judge_in_fleet(key, *fleet);
  key.evidence = key.fleet_count == nullptr ? key.here : hotter_evidence(key.here, key.fleet);
  const bool above = key.evidence.heat_low >= 1;
  if (above && !key.standing.above) key.standing.above_since = merged.at;
  key.standing.above = above;
  key.next = classify(rule, key.standing, key.evidence, merged.at);
}

// If there are too many keys, the hot ones stay, then the hottest of the others.
void Selector::State::order_by_heat() {
  order.clear();
  for (KnownKey& key : known) {
    if (!key.gets_cold()) order.push_back(&key);
  }
  std::sort(order.begin(), order.end(), hotter);
  std::size_t excess = order.size() - std::min(order.size(), options.keys_max);
  for (std::size_t i = order.size(); excess > 0; --i) {
    if (order[i - 1]->gets_hot()) continue;
    order[i - 1]->next = {Temperature::kCold, Cause::kNoRoom};
    --excess;
  }
  std::erase_if(order, [](const KnownKey* key) { return key->gets_cold(); });
}

// Makes the classifications the keys' state, and returns the changes.
std::vector<Change> Selector::State::apply(TimePoint at) {
  std::vector<Change> changes;
  std::vector<Verdict> next;
  next.reserve(order.size());
  for (KnownKey& key : known) {
    if (!key.gets_cold() || key.standing.temperature == Temperature::kCold) continue;
    const Temperature before = key.standing.temperature;
    const auto kind = key.was_hot() ? Change::Kind::kDemote : Change::Kind::kNotice;
    changes.push_back({kind, verdict_of(key, at), before});
    key.verdict = KnownKey::kNoVerdict;
  }
  for (KnownKey* key : order) {
    const Temperature before = key->standing.temperature;
    next.push_back(verdict_of(*key, at));
    key->verdict = static_cast<std::uint32_t>(next.size() - 1);
    const Temperature after = key->standing.temperature;
    if (before == after) continue;
    const auto kind = after == Temperature::kHot    ? Change::Kind::kPromote
                      : before == Temperature::kHot ? Change::Kind::kDemote
                                                    : Change::Kind::kNotice;
    changes.push_back({kind, next.back(), before});
  }
  verdicts = std::move(next);
  return changes;
}

// Reuses the verdict of the last update, with its strings, and updates it.
Verdict Selector::State::verdict_of(KnownKey& key, TimePoint at) {
  Verdict verdict;
  if (key.verdict != KnownKey::kNoVerdict) verdict = std::move(verdicts[key.verdict]);
  if (key.count != nullptr) {
    verdict.count = *key.count;
  } else {
    if (key.fleet_count != nullptr) verdict.count = *key.fleet_count;
    clear_counts(verdict.count);
    verdict.count.high = windows[key.measure].absent_max;
  }
  show_evidence(verdict, key);
  const bool is_new = key.next.temperature != key.standing.temperature;
  if (is_new) key.standing.since = at;
  if (is_new || key.next.cause != key.standing.cause) {
    verdict.reason = sentence(key.next.cause, *key.rule, options, key.evidence);
  }
  verdict.measure = key.rule->measure;
  verdict.rule = key.rule->name;
  verdict.temperature = key.standing.temperature = key.next.temperature;
  verdict.since = key.standing.since;
  key.standing.cause = key.next.cause;
  return verdict;
}

std::string Selector::State::reason_now(const Verdict& verdict) const {
  const std::uint32_t at = index.find(verdict.count.hash);
  if (at == HashIndex::kNone || known[at].verdict == KnownKey::kNoVerdict) return verdict.reason;
  const KnownKey& key = known[at];
  return sentence_now(key.standing, *key.rule, options, key.evidence);
}

// Keeps cold keys while they are listed, for their sightings; then rebuilds the index.
void Selector::State::forget() {
  std::erase_if(known, [](const KnownKey& key) { return key.gets_cold() && !key.is_listed; });
  index.reset(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    index.add(known[i].hash, static_cast<std::uint32_t>(i));
    known[i].is_listed = false;
    known[i].count = known[i].fleet_count = nullptr;
    if (known[i].gets_cold()) known[i].standing.cause = Cause::kNone;
  }
}

void Selector::State::reconfigure(const SelectorOptions& given) {
  // The keys point into the rules of `before` until they have found their new ones.
  const SelectorOptions before = std::exchange(options, sane(given));
  const std::vector<Window> known_windows = std::exchange(windows, {});
  for (const Measure& measure : options.rules.measures()) {
    const auto measures = before.rules.measures();
    const auto same = std::find(measures.begin(), measures.end(), measure);
    const auto at = static_cast<std::size_t>(same - measures.begin());
    windows.push_back(same == measures.end() ? Window() : known_windows[at]);
  }
  std::erase_if(known, [](const KnownKey& key) { return key.verdict == KnownKey::kNoVerdict; });
  for (KnownKey& key : known) {
    const Measure counted = key.rule->measure;
    const KeyCount& count = verdicts[key.verdict].count;
    key.rule = &options.rules.of(count.key, !count.key_truncated);
    key.measure = options.rules.measure_of(*key.rule);
    if (key.rule->measure != counted) key.sightings = {};
  }
  index.reset(known.size());
  for (std::size_t i = 0; i < known.size(); ++i)
    index.add(known[i].hash, static_cast<std::uint32_t>(i));
  fleet_seen.clear();
  for (KnownKey& key : known) key.fleet_sightings = {};
  policy.reconfigure(options);
}

Selector::Selector(const SelectorOptions& options) : state_(std::make_unique<State>(options)) {}

std::string Selector::reason_now(const Verdict& verdict) const {
  return state_->reason_now(verdict);
}

Selector::~Selector() = default;
Selector::Selector(Selector&&) noexcept = default;

std::vector<Change> Selector::update(std::span<const Summary> merged,
                                     std::span<const FleetWindow> fleet) {
  return state_->update(merged, fleet);
}

std::vector<Change> Selector::update(const Summary& merged) {
  return state_->update({&merged, 1}, {});
}

void Selector::reconfigure(const SelectorOptions& options) { state_->reconfigure(options); }

const std::vector<Verdict>& Selector::verdicts() const { return state_->verdicts; }

std::optional<double> absent_max(const Summary& node, const std::vector<Verdict>& shown) {
  const double seconds = node.seconds();
  if (node.dimension != Dimension::kRequests || seconds <= 0) return std::nullopt;
  std::set<std::uint64_t> listed;
  for (const Verdict& verdict : shown) listed.insert(verdict.count.hash.value);
  std::uint64_t most = node.absent_max;
  for (const KeyCount& key : node.keys) {
    if (!listed.contains(key.hash.value)) most = std::max(most, key.high);
  }
  return static_cast<double>(most) / seconds;
}

}  // namespace heatsink::detect
