// SPDX-License-Identifier: Apache-2.0
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "apps/heatsink/replay/report.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
double seconds(Nanos duration) { return seconds(duration.count()); }

json::object trace_object(const ReplayReport& report) {
  const replay::ReadingFacts& facts = report.trace.facts;
  json::object out;
  out["source"] = printable(report.source);
  out["format"] = facts.format;
  out["requests"] = report.trace.requests();
  out["listed_requests"] = report.trace.accesses.size();
  out["keys"] = report.trace.keys.size();
  out["duration_seconds"] = seconds(report.trace.duration());
  out["by_timestamps"] = facts.timed;
  out["lines"] = facts.lines;
  out["bad_lines"] = facts.bad_lines;
  out["memory_limit_reached"] = facts.full;
  out["gets"] = report.facts.gets;
  out["other_reads"] = report.facts.reads;
  out["writes"] = report.facts.writes;
  out["values_with_size"] = report.facts.sized;
  json::array curve;
  for (const replay::SharePoint& point : report.facts.share_curve)
    curve.push_back(json::object{{"rank", point.rank}, {"share", point.share}});
  out["share_curve"] = std::move(curve);
  json::array busiest;
  for (const replay::BusyKey& busy : report.facts.busiest)
    busiest.push_back(json::object{{"name", printable(report.trace.keys.name(busy.key), 1024)},
                                   {"db", report.trace.keys.db(busy.key)},
                                   {"requests", busy.accesses},
                                   {"writes", busy.writes}});
  out["busiest"] = std::move(busiest);
  return out;
}

json::object saving_object(const replay::Saving& saving, bool bytes_known) {
  const replay::CopyTally& tally = saving.tally;
  json::object out;
  out["window_seconds"] = seconds(saving.setting.window);
  out["hot_qps"] = saving.setting.hot_qps;
  out["copies_max"] = saving.setting.capacity.entries_max;
  if (saving.setting.capacity.bytes_max < replay::kNoByteLimit)
    out["bytes_max"] = saving.setting.capacity.bytes_max.count;
  out["requests_ratio"] = saving.requests_ratio;
  if (bytes_known) out["bytes_ratio"] = saving.bytes_ratio;
  out["hits"] = tally.hits;
  out["fills"] = tally.fills;
  out["refills"] = tally.refills;
  out["evictions"] = tally.evictions;
  out["refused"] = tally.refused;
  out["promotions"] = tally.promotions;
  out["demotions"] = saving.demotions;
  out["hot_keys_peak"] = saving.hot_peak;
  out["copies_peak"] = tally.entries_peak;
  out["bytes_peak"] = tally.bytes_peak;
  out["enough_evidence"] = replay::has_evidence(saving.setting);
  return out;
}

json::object earned_object(const replay::EarnedSaving& saving, bool bytes_known) {
  json::object out;
  out["copies_max"] = saving.capacity.entries_max;
  if (saving.capacity.bytes_max < replay::kNoByteLimit)
    out["bytes_max"] = saving.capacity.bytes_max.count;
  out["hit_ratio"] = saving.hit_ratio;
  out["net_ratio"] = saving.net_ratio;
  out["server_ratio"] = saving.server_ratio;
  out["server_us_spared"] = saving.server_us_spared;
  out["proxy_us_spent"] = saving.proxy_us_spent;
  out["fill_cost"] = saving.costs.fill;
  out["invalidation_cost"] = saving.costs.end;
  if (bytes_known) out["bytes_ratio"] = saving.bytes_ratio;
  out["hits"] = saving.hits;
  out["fills"] = saving.fills;
  out["evictions"] = saving.evictions;
  out["copies_peak"] = saving.copies_peak;
  out["bytes_peak"] = saving.bytes_peak;
  return out;
}

json::array reasons_array(const std::vector<replay::Reason>& reasons) {
  json::array out;
  for (const replay::Reason& reason : reasons)
    out.push_back(json::object{
        {"question", reason.question}, {"answer", reason.answer}, {"why", reason.why}});
  return out;
}

json::object budget_object(const replay::Budget& budget, bool bytes_known) {
  json::object out;
  out["caching"] = budget.caching;
  out["chosen"] = earned_object(budget.chosen, bytes_known);
  out["best"] = earned_object(budget.best, bytes_known);
  out["maximum_size"] = budget.chosen.capacity.entries_max;
  out["maximum_bytes"] = budget.cache_bytes.count;
  out["reasons"] = reasons_array(budget.reasons);
  return out;
}

json::object advice_object(const replay::Recommendation& advice, bool bytes_known) {
  json::object out;
  out["caching"] = advice.caching;
  out["chosen"] = saving_object(advice.chosen, bytes_known);
  out["best"] = saving_object(advice.best, bytes_known);
  if (advice.caching) out["requests_ratio_with_slower_keys"] = advice.slower_ratio;
  out["reasons"] = reasons_array(advice.reasons);
  return out;
}

json::object accuracy_object(const ReplayReport& report, const replay::Accuracy& accuracy) {
  json::object out;
  if (report.judged.rule.hot_part > 0) {
    out["hot_qps"] = "auto";
  } else {
    out["hot_qps"] = report.judged.rule.hot;
  }
  out["window_seconds"] = seconds(report.judged.rule.measure.window);
  out["memory_bytes"] = accuracy.memory_bytes;
  out["judgements"] = accuracy.judgements;
  out["precision"] = accuracy.precision();
  out["recall"] = accuracy.recall();
  out["burst"] = report.judged.burst;
  out["not_named"] = accuracy.truly - accuracy.named_truly;
  out["lasting"] = accuracy.named - accuracy.named_truly;
  out["lasting_part"] = accuracy.lasting_part();
  out["not_named_for_want_of_proof"] = accuracy.unproven;
  out["precision_at_100"] = accuracy.top_precision();
  out["rate_error"] = accuracy.rate_error();
  out["bounds_broken"] = accuracy.bounds_broken;
  out["detected"] = accuracy.detection_ns.size();
  out["missed"] = accuracy.missed;
  out["detection_seconds_p50"] = seconds(replay::quantile(accuracy.detection_ns, 0.5));
  out["detection_seconds_p99"] = seconds(replay::quantile(accuracy.detection_ns, 0.99));
  out["detection_seconds_max"] = seconds(replay::quantile(accuracy.detection_ns, 1));
  json::array moments;
  for (const replay::HotMoment& moment : accuracy.moments)
    moments.push_back(json::object{{"at_seconds", seconds(moment.at_ns)},
                                   {"named", moment.named},
                                   {"exact", moment.truly},
                                   {"threshold", moment.threshold}});
  out["hot_keys_over_time"] = std::move(moments);
  json::array lives;
  for (const replay::HotLife& life : accuracy.lives)
    lives.push_back(json::object{{"name", printable(report.trace.keys.name(life.key), 1024)},
                                 {"periods", life.periods},
                                 {"first_seconds", seconds(life.first_ns)},
                                 {"hot_seconds", seconds(life.hot_ns)},
                                 {"rate_max", life.rate_max},
                                 {"write_hot_seconds", seconds(life.write_hot_ns)}});
  out["hot_keys"] = std::move(lives);
  return out;
}

}  // namespace

std::string report_json(const ReplayReport& report) {
  json::object out;
  out["heatsink_replay"] = 2;
  out["trace"] = trace_object(report);
  const bool bytes_known = knows_bytes(report);
  out["recommendation"] = budget_object(report.budget, bytes_known);
  json::array copies;
  for (const replay::EarnedSaving& saving : report.earned)
    copies.push_back(earned_object(saving, bytes_known));
  out["copies"] = std::move(copies);
  if (report.has_thresholds()) {
    json::object thresholds = advice_object(report.recommendation, bytes_known);
    json::array savings;
    for (const replay::Saving& saving : report.savings)
      savings.push_back(saving_object(saving, bytes_known));
    thresholds["savings"] = std::move(savings);
    out["thresholds"] = std::move(thresholds);
  }
  out["accuracy"] =
      report.accuracy ? json::value(accuracy_object(report, *report.accuracy)) : json::value();
  json::array notes;
  for (const std::string& note : caveats(report)) notes.emplace_back(note);
  out["caveats"] = std::move(notes);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::app
