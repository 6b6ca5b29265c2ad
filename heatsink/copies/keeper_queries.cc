// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/keeper_queries.h"

#include <chrono>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "heatsink/copies/ask_loop.h"
#include "heatsink/copies/copies_by_worth.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kReportWithin = std::chrono::seconds(1);
constexpr Nanos kInspectionSlack = Millis(500);  // for the keeper's own turns
constexpr const char* kNoAnswer = "the proxy's keeper thread does not answer";

void put_facts(const redis::ValueFacts& facts, report::KeyInspection& out) {
  out.type = facts.type;
  out.encoding = facts.encoding;
  if (facts.value_bytes) out.value_bytes = Bytes{*facts.value_bytes};
  if (facts.memory_bytes) out.memory_bytes = Bytes{*facts.memory_bytes};
  out.ttl = facts.ttl;
  out.never_expires = facts.never_expires;
}

}  // namespace

report::Report KeeperQueries::report() {
  auto report = ask_loop<report::Report>(of_.loop, kReportWithin, [this](const auto& answer) {
    answer(of_.report.report(of_.loop.clock()));
  });
  if (report) return *std::move(report);
  report::Report none;
  none.is_answered = false;
  none.coherence = none.upstream_problem = kNoAnswer;
  return none;
}

report::WarmReport KeeperQueries::warm(report::WarmOrder order) {
  auto report = ask_loop<report::WarmReport>(of_.loop, 2 * Warming::kAnswerWithin,
                                             [this, order = std::move(order)](const auto& answer) {
                                               of_.rest.wake(of_.loop.clock());
                                               of_.warming.order(order, of_.loop.clock(), answer);
                                             });
  if (report) return *std::move(report);
  report::WarmReport none;
  none.problem = kNoAnswer;
  return none;
}

report::WarmReport KeeperQueries::warmed(std::uint64_t search) {
  auto report = ask_loop<report::WarmReport>(
      of_.loop, Warming::kAnswerWithin,
      [this, search](const auto& answer) { answer(of_.warming.report(search, of_.loop.clock())); });
  if (report) return *std::move(report);
  report::WarmReport none;
  none.problem = kNoAnswer;
  return none;
}

report::DropReport KeeperQueries::drop_copies(report::WarmKey key, std::string who) {
  auto report = ask_loop<report::DropReport>(
      of_.loop, kReportWithin,
      [this, key = std::move(key), who = std::move(who)](const auto& answer) {
        answer(of_.orders.drop(key, who, of_.loop.now()));
      });
  if (report) return *std::move(report);
  report::DropReport none;
  none.problem = std::string(kNoAnswer) + ", so the copy may be dropped later";
  return none;
}

report::KeyInspection KeeperQueries::inspect(std::string name, std::uint32_t db) {
  auto inspection =
      ask_loop<report::KeyInspection>(of_.loop, KeyInspector::kAnswerWithin + kInspectionSlack,
                                      [this, name = std::move(name), db](const auto& answer) {
                                        of_.rest.wake(of_.loop.clock());
                                        inspect(name, db, answer);
                                      });
  if (inspection) return *std::move(inspection);
  report::KeyInspection none;
  none.problem = kNoAnswer;
  return none;
}

void KeeperQueries::inspect(const std::string& name, std::uint32_t db,
                            const std::function<void(report::KeyInspection)>& answer) {
  auto inspection = std::make_shared<report::KeyInspection>();
  inspection->report = of_.report.report_of(name, db, of_.loop.clock());
  const detect::KeyCount& shown = inspection->report.keys.front().verdict.count;
  inspection->events = of_.report.events_of(shown);
  const std::optional<std::string> whole = of_.report.true_name(shown, name);
  if (!whole) {
    inspection->problem = "the stored name is cut off: ask with the whole name";
    return answer(std::move(*inspection));
  }
  inspector_.ask(*whole, shown.db, of_.loop.clock(),
                 [answer, inspection](const redis::ValueFacts& facts, const std::string& problem) {
                   inspection->problem = problem;
                   put_facts(facts, *inspection);
                   answer(std::move(*inspection));
                 });
}

std::vector<LastingKey> KeeperQueries::hot_names(std::size_t count_max) {
  return ask_loop<std::vector<LastingKey>>(
             of_.loop, kReportWithin,
             [this, count_max](const auto& answer) { answer(names_of_copies(count_max)); },
             Urgency::kInAnyCase)
      .value_or(std::vector<LastingKey>{});
}

std::vector<LastingKey> KeeperQueries::names_of_copies(std::size_t count_max) const {
  const TimePoint now = of_.loop.clock();
  std::vector<LastingKey> keys = of_.warming.lasting_keys(count_max, now);
  std::unordered_set<std::uint64_t> named;
  for (const LastingKey& each : keys) named.insert(of_.warming.warmer().hash_of(each.key).value);
  const std::vector<KeyHash> best =
      of_.admission.best_keys(of_.hot_keys.verdicts(), count_max, now);
  for (const cache::Entry* const entry : copies_by_worth(of_.shared.table, best)) {
    const bool fits = keys.size() < count_max && entry->key().size() <= Warmer::kNameBytesMax;
    if (fits && named.insert(entry->hash().value).second)
      keys.push_back({{entry->key(), entry->db()}, Nanos(0)});
  }
  return keys;
}

Learned KeeperQueries::learned() {
  return ask_loop<Learned>(
             of_.loop, kReportWithin,
             [this](const auto& answer) { answer(of_.admission.learned()); }, Urgency::kInAnyCase)
      .value_or(Learned{});
}

}  // namespace heatsink::copies
