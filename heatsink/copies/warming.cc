// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/warming.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace heatsink::copies {
namespace {

using detect::Temperature;

constexpr std::uint32_t kFromPredecessor = UINT32_MAX;  // a source of warming besides the windows

// The pause between two search steps when no answer of the server triggers one.
constexpr Nanos kSearchInterval = Millis(10);

std::string utc_text(WallTime at) {
  const time_t moment = std::chrono::system_clock::to_time_t(at);
  tm utc{};
  gmtime_r(&moment, &utc);
  std::array<char, 32> text{};
  strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

std::string until_text(TimePoint until, TimePoint now) {
  const WallTime wall = std::chrono::system_clock::now();
  return "warmed until " +
         utc_text(wall + std::chrono::duration_cast<WallTime::duration>(until - now));
}

detect::KeyCount count_of(const report::WarmKey& key, KeyHash hash) {
  detect::KeyCount count;
  count.hash = hash;
  count.key = key.name.substr(0, detect::kKeyBytesMax);
  count.key_truncated = key.name.size() > detect::kKeyBytesMax;
  count.db = key.db;
  return count;
}

}  // namespace

struct Warming::Waiter {
  report::WarmOrder order;
  Done done;
  TimePoint answer_by;
  std::vector<std::string> refusals{};  // the reason, by index of the key; "": not refused
  std::uint64_t search = 0;             // the search that the order is about; 0: none
  std::string problem{};
};

Warming::Warming(NodeState& shared, net::EventLoop& loop, Owner& owner)
    : shared_(shared),
      loop_(loop),
      owner_(owner),
      warmer_(shared),
      searches_(loop, shared, warmer_),
      plans_(shared.options().warming) {}

Warming::~Warming() = default;

void Warming::order(report::WarmOrder order, TimePoint now, Done done) {
  auto waiter =
      std::make_unique<Waiter>(Waiter{std::move(order), std::move(done), now + kAnswerWithin});
  if (waiter->order.ends) {
    end_searches(*waiter);
  } else if (waiter->order.pattern) {
    begin_search(*waiter, now);
  }
  for (const report::WarmKey& key : waiter->order.keys) {
    std::string why;
    if (waiter->order.ends) {
      if (!warmer_.end(key)) why = "the key is not being warmed";
    } else {
      static_cast<void>(warmer_.begin(key, Warmer::kByHand, now + waiter->order.lasts, now, why));
    }
    waiter->refusals.push_back(std::move(why));
  }
  waiters_.push_back(std::move(waiter));
  tick(now);
}

void Warming::begin_search(Waiter& waiter, TimePoint now) {
  const Result<std::uint64_t> id =
      searches_.begin_by_hand(*waiter.order.pattern, now + waiter.order.lasts, now);
  if (id.ok()) {
    waiter.search = *id;
  } else {
    waiter.problem = id.error().message;
  }
}

// An order to end a pattern also ends the keys that its searches have found.
void Warming::end_searches(Waiter& waiter) {
  report::WarmOrder& order = waiter.order;
  waiter.search = order.search;
  if (order.search != 0) searches_.end(order.search);
  if (!order.pattern) return;
  searches_.end_by_hand(*order.pattern);
  order.keys = warmer_.matching(detect::KeyPattern(order.pattern->glob), order.pattern->db);
}

void Warming::add_search(std::uint64_t id, bool with_keys, report::WarmReport& report) const {
  const PatternSearch* search = searches_.find(id);
  if (search == nullptr) {
    report.problem = "search " + std::to_string(id) + " does not exist (any more)";
    return;
  }
  report.searches.push_back(search->report(warmer_));
  if (with_keys && search->over()) report.keys = search->keys(warmer_);
}

void Warming::inherit(std::span<const LastingKey> keys, Nanos at_least, TimePoint now) {
  for (const LastingKey& each : keys) {
    std::string why;  // without room in the table the key becomes hot by its rate again
    const bool is_wanted = each.lasts > Nanos(0);
    static_cast<void>(warmer_.begin(each.key, is_wanted ? Warmer::kByHand : kFromPredecessor,
                                    now + std::max(each.lasts, at_least), now, why));
  }
  tick(now);
}

void Warming::follow_options(const policy::ProxyOptions& before, TimePoint now) {
  warmer_.end_forbidden();
  const policy::ProxyOptions& options = shared_.options();
  if (options.warming == before.warming) return;
  plans_.end_all(warmer_, searches_);
  plans_ = WarmPlans(options.warming);
  // At once: keys that the new list has, too, keep their copies.
  plans_.look(std::chrono::system_clock::now(), now, warmer_, searches_);
}

void Warming::tick(TimePoint now) {
  if (!plans_.none() && now - plans_looked_at_ >= WarmPlans::kLookInterval) {
    plans_looked_at_ = now;
    plans_.look(std::chrono::system_clock::now(), now, warmer_, searches_);
  }
  record_changes(now);
  for (FillRequest& request : warmer_.due(now)) owner_.load(std::move(request));
  record_changes(now);
  owner_.send_loads();
  answer_waiters(now);
}

void Warming::end_turn(TimePoint now) {
  if (searches_.none()) return;
  searches_.step(now);
  record_changes(now);
  if (!searches_.under_way() || search_timer_ != 0) return;
  search_timer_ = loop_.call_after(kSearchInterval, [this] {
    search_timer_ = 0;
    tick(loop_.clock());
  });
}

void Warming::filled(const FillRequest& asked, FillOutcome outcome, TimePoint now,
                     const std::string& why) {
  warmer_.filled(asked, outcome, now, why);
  if (waiters_.empty()) return;
  record_changes(now);
  answer_waiters(now);
}

bool Warming::has_work() const {
  return warmer_.size() > 0 || !waiters_.empty() || search_timer_ != 0;
}

// Keys whose warming has ended stay only if their rate is hot.
void Warming::record_changes(TimePoint now) {
  const std::vector<Warmer::WarmingChange> warmings = warmer_.take_changes();
  if (warmings.empty()) return;
  std::vector<detect::Change> changes;
  for (const Warmer::WarmingChange& warming : warmings) {
    if (!warming.begun) record_refusal(warming);
    const bool is_hot = owner_.is_hot_by_rate(warming.hash);
    // Its warming may have ended and begun again, by another order.
    if (!warming.begun && !is_hot && !warmer_.holds(warming.hash))
      shared_.table.demote(warming.hash);
    if (is_hot) continue;
    detect::Change change{};
    change.kind = warming.begun ? detect::Change::Kind::kPromote : detect::Change::Kind::kDemote;
    change.before = warming.begun ? Temperature::kCold : Temperature::kHot;
    change.verdict.count = count_of(warming.key, warming.hash);
    change.verdict.temperature = warming.begun ? Temperature::kHot : Temperature::kCold;
    change.verdict.measure = shared_.rules().rules().front().measure;
    change.verdict.reason = warming.begun ? until_text(warming.until, now) : warming.why;
    changes.push_back(std::move(change));
  }
  owner_.note_warmed(std::move(changes), now);
}

// Tells an order why its key was released before it could be answered.
void Warming::record_refusal(const Warmer::WarmingChange& warming) {
  for (const std::unique_ptr<Waiter>& waiter : waiters_) {
    for (std::size_t i = 0; i < waiter->order.keys.size(); ++i) {
      if (waiter->order.ends || warmer_.hash_of(waiter->order.keys[i]) != warming.hash) continue;
      if (waiter->refusals[i].empty()) waiter->refusals[i] = warming.why;
    }
  }
}

void Warming::answer_waiters(TimePoint now) {
  std::erase_if(waiters_, [&](const std::unique_ptr<Waiter>& waiter) {
    report::WarmReport report;
    report.at = now;
    report.problem = waiter->problem;
    if (waiter->search != 0) add_search(waiter->search, false, report);
    bool loads = false;
    for (std::size_t i = 0; i < waiter->order.keys.size(); ++i) {
      report.keys.push_back(outcome_of(*waiter, i));
      loads = loads || report.keys.back().outcome == report::WarmOutcome::kLoading;
    }
    if (loads && now < waiter->answer_by && shared_.proof.up()) return false;
    waiter->done(std::move(report));
    return true;
  });
}

report::WarmedKey Warming::outcome_of(const Waiter& waiter, std::size_t i) const {
  const report::WarmKey& key = waiter.order.keys[i];
  report::WarmKey shown{shared_.shown.show(key.name), key.db};
  const std::string& why = waiter.refusals[i];
  if (waiter.order.ends) {
    return {std::move(shown),
            why.empty() ? report::WarmOutcome::kEnded : report::WarmOutcome::kNotWarmed,
            why,
            {}};
  }
  if (!why.empty()) return {std::move(shown), report::WarmOutcome::kRefused, why, {}};
  const KeyHash hash = warmer_.hash_of(key);
  if (warmer_.holds(hash)) return report_on(hash);
  return {std::move(shown), report::WarmOutcome::kRefused, "the key is no longer warmed", {}};
}

report::WarmedKey Warming::report_on(KeyHash hash) const {
  report::WarmedKey key = warmer_.report_on(hash);
  key.key.name = shared_.shown.show(key.key.name);
  if (key.outcome == report::WarmOutcome::kLoading && !shared_.proof.up())
    key.note = "no local copies at the moment: " + owner_.coherence();
  return key;
}

report::WarmReport Warming::report(std::uint64_t search, TimePoint now) const {
  report::WarmReport report;
  report.at = now;
  if (search != 0) {
    add_search(search, true, report);
  } else {
    for (const KeyHash hash : warmer_.keys()) report.keys.push_back(report_on(hash));
    report.searches = searches_.report();
  }
  std::sort(report.keys.begin(), report.keys.end(),
            [](const auto& a, const auto& b) { return a.key.name < b.key.name; });
  return report;
}

std::vector<LastingKey> Warming::lasting_keys(std::size_t count_max, TimePoint now) const {
  std::vector<LastingKey> keys;
  for (const KeyHash hash : warmer_.keys()) {
    if (keys.size() >= count_max) break;
    report::WarmedKey warmed = warmer_.report_on(hash);
    keys.push_back({std::move(warmed.key), std::max(warmed.until - now, Nanos(0))});
  }
  return keys;
}

detect::Verdict Warming::as_warmed(detect::Verdict verdict, TimePoint now) const {
  const std::string until = until_text(warmer_.report_on(verdict.count.hash).until, now);
  const bool is_hot = verdict.temperature == Temperature::kHot;
  verdict.reason = is_hot ? verdict.reason + "; " + until : until;
  if (!is_hot) verdict.since = warmer_.since(verdict.count.hash);
  verdict.temperature = Temperature::kHot;
  return verdict;
}

detect::Verdict Warming::verdict_of(KeyHash key, TimePoint now) const {
  detect::Verdict verdict;
  verdict.count = count_of(warmer_.report_on(key).key, key);
  verdict.measure = shared_.rules().rules().front().measure;
  return as_warmed(std::move(verdict), now);
}

}  // namespace heatsink::copies
