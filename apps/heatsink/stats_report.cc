// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/stats_report.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;
using distributed::StatisticReading;

double in_seconds(Millis duration) { return std::chrono::duration<double>(duration).count(); }

double per_second(const StatisticReading& reading) {
  const double covered = in_seconds(reading.covered);
  return covered > 0 ? static_cast<double>(reading.summary.count) / covered : 0;
}

// Integers without an exponent, which Boost.JSON writes for each double.
json::value number(stats::Sum value) {
  if (value >= INT64_MIN && value <= INT64_MAX) return static_cast<std::int64_t>(value);
  return static_cast<double>(value);
}

json::object object_of(const NamedReading& one) {
  const stats::Summary& all = one.reading.summary;
  const bool has_any = all.count != 0;
  return {{"name", printable(one.name)},
          {"name_base64", base64(one.name)},
          {"count", all.count},
          {"sum", number(all.sum)},
          {"mean", all.mean()},
          {"min", has_any ? json::value(all.min) : json::value()},
          {"max", has_any ? json::value(all.max) : json::value()},
          {"p50", has_any ? json::value(all.quantile(0.5)) : json::value()},
          {"p90", has_any ? json::value(all.quantile(0.9)) : json::value()},
          {"p99", has_any ? json::value(all.quantile(0.99)) : json::value()},
          {"p999", has_any ? json::value(all.quantile(0.999)) : json::value()},
          {"quantile_error", stats::kErrorMax},
          {"per_second", per_second(one.reading)},
          {"covered_seconds", in_seconds(one.reading.covered)},
          {"slot_seconds", in_seconds(one.reading.slot)},
          {"length_seconds", in_seconds(one.reading.length)},
          {"shards_missing", one.reading.shards_missing},
          {"problem", one.reading.problem}};
}

std::string decimal(stats::Sum value) {
  if (value == 0) return "0";
  std::string digits;
  const bool is_negative = value < 0;
  for (; value != 0; value /= 10)
    digits.insert(digits.begin(),
                  static_cast<char>('0' + (value < 0 ? -(value % 10) : value % 10)));
  return is_negative ? "-" + digits : digits;
}

std::string warning(const StatisticReading& reading) {
  if (reading.shards_missing == 0) return "";
  return fmt::format("{} of {} parts could not be read, so their numbers are missing: {}\n",
                     reading.shards_missing, distributed::kStatisticShards,
                     one_line(reading.problem));
}

}  // namespace

std::string stats_text(const NamedReading& one) {
  const StatisticReading& reading = one.reading;
  const stats::Summary& all = reading.summary;
  std::string out = fmt::format("{}: last {:.3g} s, in steps of {}; kept for {}\n",
                                printable(one.name), in_seconds(reading.covered),
                                format_duration(reading.slot), format_duration(reading.length));
  out += warning(reading);
  out += fmt::format("count {:>20}   {:.4g}/s\nsum   {:>20}\n", all.count, per_second(reading),
                     decimal(all.sum));
  if (all.count == 0) return out;
  out += fmt::format("mean  {:>20.6g}\nmin   {:>20}\n", all.mean(), all.min);
  for (const auto& [label, q] : {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}})
    out += fmt::format("{}   {:>20}\n", label, all.quantile(q));
  return out + fmt::format("max   {:>20}\n", all.max);
}

std::string stats_table(const std::vector<NamedReading>& all) {
  std::string out = fmt::format("{:<24} {:>10} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "name",
                                "count", "per s", "mean", "p50", "p90", "p99", "max");
  for (const NamedReading& one : all) {
    const stats::Summary& sum = one.reading.summary;
    out += fmt::format("{:<24} {:>10} {:>9.4g} {:>10.6g} {:>10} {:>10} {:>10} {:>10}\n",
                       printable(one.name), sum.count, per_second(one.reading), sum.mean(),
                       sum.quantile(0.5), sum.quantile(0.9), sum.quantile(0.99),
                       sum.count == 0 ? 0 : sum.max);
    out += warning(one.reading);
  }
  return out;
}

std::string stats_json(const NamedReading& one) { return json::serialize(object_of(one)) + "\n"; }

std::string stats_json(const std::vector<NamedReading>& all) {
  json::array rows;
  for (const NamedReading& one : all) rows.push_back(object_of(one));
  return json::serialize(json::object{{"statistics", std::move(rows)}}) + "\n";
}

}  // namespace heatsink::app
