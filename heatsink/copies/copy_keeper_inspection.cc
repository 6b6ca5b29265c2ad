// SPDX-License-Identifier: Apache-2.0
// The keeper's part of an inspection: everything that is known of one key.
#include <algorithm>
#include <cmath>
#include <future>
#include <utility>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kSlack = Millis(500);  // for the keeper's own turns

void put_facts(const redis::ValueFacts& facts, report::KeyInspection& out) {
  out.type = facts.type;
  out.encoding = facts.encoding;
  if (facts.value_bytes) out.value_bytes = Bytes{*facts.value_bytes};
  if (facts.memory_bytes) out.memory_bytes = Bytes{*facts.memory_bytes};
  out.ttl = facts.ttl;
  out.never_expires = facts.never_expires;
}

// The bounds that a summary proves for a key, whether it lists the key or not.
detect::KeyCount count_in(const detect::Summary& summary, detect::KeyCount key) {
  const auto found =
      std::find_if(summary.keys.begin(), summary.keys.end(),
                   [&key](const detect::KeyCount& each) { return each.hash == key.hash; });
  if (found != summary.keys.end()) return *found;
  key.high = summary.absent_max;
  return key;
}

}  // namespace

report::KeyInspection CopyKeeper::inspect(std::string name, std::uint32_t db) {
  auto answer = std::make_shared<std::promise<report::KeyInspection>>();
  std::future<report::KeyInspection> future = answer->get_future();
  static_cast<void>(loop_.try_post([this, answer, name = std::move(name), db] {
    wake();
    auto inspection = std::make_shared<report::KeyInspection>();
    inspection->report = report_of_one(name, db);
    const detect::KeyCount& shown = inspection->report.keys.front().verdict.count;
    inspection->events = events_of(shown);
    const std::optional<std::string> whole = true_name(shown, name);
    if (!whole) {
      inspection->problem = "the stored name is cut off: ask with the whole name";
      return answer->set_value(std::move(*inspection));
    }
    inspector_.ask(
        *whole, shown.db, loop_.clock(),
        [answer, inspection](const redis::ValueFacts& facts, const std::string& problem) {
          put_facts(facts, *inspection);
          inspection->problem = problem;
          answer->set_value(std::move(*inspection));
        });
  }));
  const Nanos within = KeyInspector::kAnswerWithin + kSlack;
  if (future.wait_for(within) == std::future_status::ready) return future.get();
  report::KeyInspection none;
  none.problem = "the proxy's keeper thread does not answer";
  return none;
}

// A user who sees redacted names can only ask by a redacted name.
report::Report CopyKeeper::report_of_one(const std::string& name, std::uint32_t db) {
  const KeyHash hash = in_db(hash_name(name, shared_.seed), db);
  report::Report report = make_report();
  const auto is_asked = [&](const report::KeyReport& row) {
    const detect::KeyCount& count = row.verdict.count;
    return count.hash == hash || (shared_.shown.redacts() && count.db == db && count.key == name);
  };
  std::vector<report::KeyReport> rows;
  std::copy_if(report.keys.begin(), report.keys.end(), std::back_inserter(rows), is_asked);
  if (rows.empty()) rows.push_back(report_on(cold_verdict(name, db)));
  rows.resize(1);
  report.keys = std::move(rows);
  return report;
}

detect::Verdict CopyKeeper::cold_verdict(const std::string& name, std::uint32_t db) const {
  detect::KeyCount key;
  key.hash = in_db(hash_name(name, shared_.seed), db);
  key.key = name.substr(0, detect::kKeyBytesMax);
  key.key_truncated = name.size() > detect::kKeyBytesMax;
  key.db = db;
  const detect::Rule& rule = shared_.rules().of(key.key, !key.key_truncated);
  const detect::Summary& summary = merged_[shared_.rules().measure_of(rule)];
  detect::Verdict out;
  out.count = count_in(summary, std::move(key));
  out.measure = rule.measure;
  out.rule = rule.name;
  out.since = started_at_;
  const double seconds = summary.seconds();
  if (seconds > 0) {
    out.rate = out.rate_low = static_cast<double>(out.count.low) / seconds;
    out.rate_high = static_cast<double>(out.count.high) / seconds;
  }
  const auto total = static_cast<double>(summary.total());
  if (total > 0) out.share = static_cast<double>(out.count.low) / total;
  out.reason = "at most " + std::to_string(std::llround(std::ceil(out.rate_high))) +
               "/s; a key is warm from " + std::to_string(std::llround(rule.warm)) + "/s";
  return out;
}

std::vector<report::Event> CopyKeeper::events_of(const detect::KeyCount& shown) const {
  std::vector<report::Event> all = events_.latest();
  std::erase_if(all, [&shown](const report::Event& event) {
    return event.nothing_hot || event.outage || event.config != report::Event::Config::kNone ||
           event.db != shown.db || event.key != shown.key;
  });
  return all;
}

// Empty if only the beginning of the name is known.
std::optional<std::string> CopyKeeper::true_name(const detect::KeyCount& shown,
                                                 const std::string& name) const {
  if (in_db(hash_name(name, shared_.seed), shown.db) == shown.hash) return name;
  for (const detect::Verdict& verdict : selector_.verdicts()) {
    if (verdict.count.hash == shown.hash && !verdict.count.key_truncated) return verdict.count.key;
  }
  return std::nullopt;
}

}  // namespace heatsink::copies
