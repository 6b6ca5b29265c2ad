// SPDX-License-Identifier: Apache-2.0
// The keeper's part of warming: orders, the schedule, and reports to people.
#include <time.h>

#include <algorithm>
#include <array>
#include <future>
#include <unordered_set>
#include <utility>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;

// An order is answered when the server has answered for all its keys, and at the latest after this.
constexpr Nanos kAnswerWithin = Millis(1500);

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

struct CopyKeeper::WarmWaiter {
  report::WarmOrder order;
  std::vector<std::string> refusals;  // the reason, by index of the key; "": not refused
  std::uint64_t search = 0;           // the search that the order is about; 0: none
  std::string problem;
  TimePoint answer_by{};
  std::promise<report::WarmReport> promise;
};

report::WarmReport CopyKeeper::warm(report::WarmOrder order) {
  auto waiter = std::make_shared<WarmWaiter>();
  waiter->order = std::move(order);
  std::future<report::WarmReport> future = waiter->promise.get_future();
  static_cast<void>(loop_.try_post([this, waiter] {
    wake();
    begin_warming(waiter);
  }));
  if (future.wait_for(2 * kAnswerWithin) == std::future_status::ready) return future.get();
  report::WarmReport report;
  report.problem = "the proxy's keeper thread does not answer";
  return report;
}

report::WarmReport CopyKeeper::warmed(std::uint64_t search) {
  auto answer = std::make_shared<std::promise<report::WarmReport>>();
  std::future<report::WarmReport> future = answer->get_future();
  static_cast<void>(loop_.try_post([this, answer, search] {
    report::WarmReport report;
    report.at = loop_.clock();
    if (search != 0) {
      add_search(search, true, report);
    } else {
      for (const KeyHash hash : warmer_.keys()) report.keys.push_back(report_on(hash));
      report.searches = searches_.report();
    }
    std::sort(report.keys.begin(), report.keys.end(),
              [](const auto& a, const auto& b) { return a.key.name < b.key.name; });
    answer->set_value(std::move(report));
  }));
  if (future.wait_for(kAnswerWithin) == std::future_status::ready) return future.get();
  report::WarmReport report;
  report.problem = "the proxy's keeper thread does not answer";
  return report;
}

void CopyKeeper::begin_warming(const std::shared_ptr<WarmWaiter>& waiter) {
  const TimePoint now = loop_.clock();
  waiter->answer_by = now + kAnswerWithin;
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
  warm_waiters_.push_back(waiter);
  keep_warm();
}

void CopyKeeper::begin_search(WarmWaiter& waiter, TimePoint now) {
  const Result<std::uint64_t> id =
      searches_.begin_by_hand(*waiter.order.pattern, now + waiter.order.lasts, now);
  if (id.ok()) {
    waiter.search = *id;
  } else {
    waiter.problem = id.error().message;
  }
}

// An order to end a pattern also ends the keys that its searches have found.
void CopyKeeper::end_searches(WarmWaiter& waiter) {
  report::WarmOrder& order = waiter.order;
  waiter.search = order.search;
  if (order.search != 0) searches_.end(order.search);
  if (!order.pattern) return;
  searches_.end_by_hand(*order.pattern);
  order.keys = warmer_.matching(detect::KeyPattern(order.pattern->glob), order.pattern->db);
}

void CopyKeeper::add_search(std::uint64_t id, bool with_keys, report::WarmReport& report) const {
  const PatternSearch* search = searches_.find(id);
  if (search == nullptr) {
    report.problem = "search " + std::to_string(id) + " does not exist (any more)";
    return;
  }
  report.searches.push_back(search->report(warmer_));
  if (with_keys && search->over()) report.keys = search->keys(warmer_);
}

// Runs at the end of each turn, so that a page's arrival requests the next page at once.
void CopyKeeper::search() {
  if (searches_.none()) return;
  const TimePoint now = loop_.clock();
  searches_.step(now);
  apply_warming_changes(now);
  if (!searches_.under_way() || search_timer_ != 0) return;
  search_timer_ = loop_.call_after(kSearchInterval, [this] {
    search_timer_ = 0;
    keep_warm();
  });
}

// Runs ten times per second, after each order, and more often during searches.
void CopyKeeper::keep_warm() {
  const TimePoint now = loop_.clock();
  if (!plans_.none() && now - plans_looked_at_ >= WarmPlans::kLookInterval) {
    plans_looked_at_ = now;
    plans_.look(std::chrono::system_clock::now(), now, warmer_, searches_);
  }
  apply_warming_changes(now);
  for (FillRequest& request : warmer_.due(now)) filler_.request(std::move(request), now);
  apply_warming_changes(now);
  tracker_connection_.flush();
  answer_warm_waiters(now);
}

// Records what the warmer has begun and ended. Keys whose warming has ended stay only if their rate
// is hot.
void CopyKeeper::apply_warming_changes(TimePoint now) {
  const std::vector<Warmer::WarmingChange> warmings = warmer_.take_changes();
  if (warmings.empty()) return;
  std::vector<detect::Change> changes;
  for (const Warmer::WarmingChange& warming : warmings) {
    if (!warming.begun) record_refusal(warming);
    const bool is_hot = is_hot_by_rate(warming.hash);
    // Its warming may have ended and begun again, by another order.
    if (!warming.begun && !is_hot && !warmer_.holds(warming.hash))
      shared_.table.demote(warming.hash);
    if (is_hot) continue;
    detect::Change change{};
    change.kind = warming.begun ? detect::Change::Kind::kPromote : detect::Change::Kind::kDemote;
    change.before = warming.begun ? Temperature::kCold : Temperature::kHot;
    change.verdict.count = count_of(warming.key, warming.hash);
    shared_.shown.hide(change.verdict.count);
    change.verdict.temperature = warming.begun ? Temperature::kHot : Temperature::kCold;
    change.verdict.measure = shared_.rules().rules().front().measure;
    change.verdict.reason = warming.begun ? until_text(warming.until, now) : warming.why;
    changes.push_back(std::move(change));
  }
  events_.add(changes, hot_keys(), now);
}

// Tells an order why its key was released before it could be answered.
void CopyKeeper::record_refusal(const Warmer::WarmingChange& warming) {
  for (const std::shared_ptr<WarmWaiter>& waiter : warm_waiters_) {
    for (std::size_t i = 0; i < waiter->order.keys.size(); ++i) {
      if (waiter->order.ends || warmer_.hash_of(waiter->order.keys[i]) != warming.hash) continue;
      if (waiter->refusals[i].empty()) waiter->refusals[i] = warming.why;
    }
  }
}

bool CopyKeeper::is_hot_by_rate(KeyHash hash) const {
  const auto& verdicts = selector_.verdicts();
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const detect::Verdict& verdict) {
    return verdict.count.hash == hash && verdict.temperature == Temperature::kHot;
  });
}

void CopyKeeper::answer_warm_waiters(TimePoint now) {
  std::erase_if(warm_waiters_, [&](const std::shared_ptr<WarmWaiter>& waiter) {
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
    waiter->promise.set_value(std::move(report));
    return true;
  });
}

report::WarmedKey CopyKeeper::outcome_of(const WarmWaiter& waiter, std::size_t i) const {
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

report::WarmedKey CopyKeeper::report_on(KeyHash hash) const {
  report::WarmedKey key = warmer_.report_on(hash);
  key.key.name = shared_.shown.show(key.key.name);
  if (key.outcome == report::WarmOutcome::kLoading && !shared_.proof.up())
    key.note = "no local copies at the moment: " + coherence();
  return key;
}

// The verdict of a key that an order has made hot. Its rate stays the measured one.
detect::Verdict CopyKeeper::as_warmed(detect::Verdict verdict, TimePoint now) const {
  const std::string until = until_text(warmer_.report_on(verdict.count.hash).until, now);
  const bool is_hot = verdict.temperature == Temperature::kHot;
  verdict.reason = is_hot ? verdict.reason + "; " + until : until;
  if (!is_hot) verdict.since = warmer_.since(verdict.count.hash);
  verdict.temperature = Temperature::kHot;
  return verdict;
}

// Adds the warmed keys that have no verdict of their own.
void CopyKeeper::add_warmed(report::Report& report) const {
  std::unordered_set<std::uint64_t> listed;
  for (const report::KeyReport& key : report.keys) listed.insert(key.verdict.count.hash.value);
  for (const KeyHash hash : warmer_.keys()) {
    if (listed.contains(hash.value)) continue;
    detect::Verdict verdict;
    verdict.count = count_of(warmer_.report_on(hash).key, hash);
    verdict.measure = shared_.rules().rules().front().measure;
    report.keys.push_back(report_on(as_warmed(std::move(verdict), report.at)));
    ++report.hot_keys;
  }
}

}  // namespace heatsink::copies
