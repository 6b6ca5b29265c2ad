// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/rule_dry_run.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <set>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/detect/key_pattern.h"
#include "heatsink/detect/rules.h"
#include "heatsink/report/json_values.h"

namespace heatsink::admin {
namespace {

namespace json = boost::json;

// All rules, with the candidate as the last one.
Result<detect::RuleSet> with_candidate(const std::string& match,
                                       const std::vector<std::string>& matches) {
  std::vector<detect::Rule> rules;
  for (const std::string& each : matches)
    if (each != match) rules.push_back({.match = each});
  rules.push_back({.match = match});
  return detect::RuleSet::make({}, std::move(rules));
}

enum class Fit { kNo, kYes, kUndecided };

// A name that is cut off can only be known to match, or not, where the pattern's text is shorter.
Fit fit(const detect::KeyPattern& pattern, const heat::Identity& key) {
  if (!key.is_cut) return pattern.matches(key.name) ? Fit::kYes : Fit::kNo;
  const std::string& head = pattern.head();
  const std::size_t common = std::min(head.size(), key.name.size());
  if (key.name.compare(0, common, head, 0, common) != 0) return Fit::kNo;
  const bool is_seen = pattern.kind() == detect::KeyPattern::Kind::kPrefix && common == head.size();
  return is_seen ? Fit::kYes : Fit::kUndecided;
}

}  // namespace

Result<RuleDryRun> dry_run(const heat::Sums& sums, const std::string& match,
                           const std::vector<std::string>& matches, std::size_t steps_max) {
  const Result<detect::RuleSet> rules = with_candidate(match, matches);
  if (!rules.ok()) return rules.error();
  std::size_t pattern_bytes = match.size();
  for (const std::string& each : matches) pattern_bytes += each.size();
  const detect::KeyPattern pattern(match);
  const detect::Rule& candidate = rules->rules().back();
  const detect::Rule& fallback = rules->rules().front();

  RuleDryRun out{.match = match, .requests_all = sums.requests};
  double others = 0;  // the requests that the rule would surely not have had
  double named = 0;   // what keys that are named, and may match, had at most
  std::set<std::uint32_t> databases{0};
  for (const heat::KeySum& sum : sums.keys) {
    const std::size_t steps = (sum.identity.name.size() + 1) * (match.size() + 1);
    out.is_whole = out.is_whole && steps <= steps_max;
    if (!out.is_whole) break;
    steps_max -= steps;
    databases.insert(sum.identity.db);
    const Fit matched = fit(pattern, sum.identity);
    if (matched == Fit::kUndecided) {
      ++out.undecided;
      named += sum.high;
    }
    if (matched == Fit::kNo) others += sum.low;
    if (matched != Fit::kYes) continue;
    // Only names that match are looked up in all rules.
    const std::size_t look_up = std::min(steps_max, sum.identity.name.size() * pattern_bytes);
    steps_max -= look_up;
    const detect::Rule& rule = rules->of(sum.identity.name, !sum.identity.is_cut);
    const bool applies = &rule == &candidate;
    ++(applies ? out.keys : out.kept_keys);
    (applies ? out.requests_low : out.kept_requests) += sum.low;
    if (applies)
      named += sum.high;
    else
      others += sum.low;
    if (out.listed.size() == RuleDryRun::kListedMax) continue;
    std::string name = applies || &rule == &fallback ? "" : rule.match;
    out.listed.push_back({sum, std::move(name), applies});
  }
  // Counts of keys and of all come from different counters.
  out.requests_low = std::min(out.requests_low, sums.requests);
  out.kept_requests = std::min(out.kept_requests, sums.requests);
  out.requests_high = std::max(out.requests_low, sums.requests - others);
  // Of a single name more is known: how much a key may have had where it is not named.
  if (pattern.kind() == detect::KeyPattern::Kind::kExact && out.is_whole) {
    const double unnamed = sums.unnamed * static_cast<double>(databases.size());
    out.requests_high = std::min(out.requests_high, named + unnamed);
  }
  return out;
}

namespace {

json::object key_object(const RuleDryRun::Key& key) {
  json::object out;
  report::add_name(out, key.sum.identity.name, key.sum.identity.is_cut);
  out["db"] = key.sum.identity.db;
  out["requests"] = report::number(key.sum.requests);
  out["writes"] = report::number(key.sum.writes);
  out["hits"] = report::number(key.sum.hits);
  out["peak_rate"] = report::number(key.sum.peak);
  out["rule"] = printable(key.rule, detect::kKeyBytesMax);
  out["applies"] = key.applies;
  return out;
}

}  // namespace

std::string dry_run_json(const RuleDryRun& run, const heat::Sums& sums, WallTime from,
                         WallTime to) {
  json::array keys;
  for (const RuleDryRun::Key& key : run.listed) keys.push_back(key_object(key));
  json::object out;
  out["match"] = printable(run.match, detect::kKeyBytesMax);
  out["from"] = iso_time(from);
  out["to"] = iso_time(to);
  out["step_seconds"] = report::seconds(sums.step);
  out["counted_seconds"] = report::number(sums.seconds);
  out["keys_at_least"] = run.keys;
  out["requests_at_least"] = report::number(run.requests_low);
  out["requests_at_most"] = report::number(run.requests_high);
  out["requests_all"] = report::number(run.requests_all);
  out["kept_keys"] = run.kept_keys;
  out["kept_requests"] = report::number(run.kept_requests);
  out["undecided_keys"] = run.undecided;
  out["whole"] = run.is_whole;
  out["keys"] = std::move(keys);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::admin
