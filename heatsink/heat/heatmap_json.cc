// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/heatmap_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <utility>
#include <vector>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/heat/history.h"
#include "heatsink/heat/scale.h"
#include "heatsink/heat/step_json.h"

namespace heatsink::heat {
namespace {

namespace json = boost::json;

json::object totals_of(const HeatMap& map) {
  json::object out;
  for (std::size_t i = 0; i < kTotalNames.size(); ++i) {
    json::array row;
    for (const HeatMap::Step& step : map.steps) row.push_back(short_number(step.totals[i]));
    out[kTotalNames[i]] = std::move(row);
  }
  json::array highest;
  for (const HeatMap::Step& step : map.steps) highest.push_back(short_number(step.requests_max));
  out["requests_max"] = std::move(highest);
  return out;
}

json::object unnamed_of(const HeatMap& map) {
  json::object out;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    json::array row;
    for (const HeatMap::Step& step : map.steps) row.push_back(short_number(step.unnamed_max[kind]));
    out[to_string(static_cast<Kind>(kind))] = std::move(row);
  }
  return out;
}

std::string plane(const std::vector<RateCode>& codes) {
  return base64({reinterpret_cast<const char*>(codes.data()), codes.size()});
}

json::array rows_of(const HeatMap& map) {
  json::array out;
  for (const HeatMap::Row& row : map.rows) {
    out.push_back(json::object{{"kind", to_string(row.identity.kind)},
                               {"name", printable(row.identity.name)},
                               {"name_base64", base64(row.identity.name)},
                               {"name_truncated", row.identity.is_cut},
                               {"db", row.identity.db},
                               {"mean", plane(row.mean)},
                               {"max", plane(row.max)},
                               {"writes", plane(row.writes)},
                               {"hits", plane(row.hits)},
                               {"bytes", plane(row.bytes)}});
  }
  return out;
}

}  // namespace

std::string heatmap_json(const HeatMap& map, const std::function<WallTime(TimePoint)>& wall_at,
                         bool has_file) {
  const auto whole_seconds = [](auto duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  };
  json::array times;
  json::array numbers;
  for (const HeatMap::Step& step : map.steps) {
    const auto wall = std::chrono::round<std::chrono::seconds>(wall_at(step.begin));
    times.push_back(whole_seconds(wall.time_since_epoch()));
    numbers.push_back(step.number);
  }
  json::array tiers;
  for (const Tier& tier : kTiers) {
    tiers.push_back(
        json::object{{"step_seconds", tier.step_s},
                     {"kept_seconds", tier.step_s * static_cast<std::int64_t>(tier.columns_max)}});
  }
  json::object out{{"step_seconds", whole_seconds(map.step)},
                   {"window_seconds", std::chrono::duration<double>(map.window).count()},
                   {"codes_per_doubling", kCodesPerDoubling},
                   {"bytes_codes_per_doubling", kBytesCodesPerDoubling},
                   {"source", map.source == HeatMap::Source::kFile ? "file" : "memory"},
                   {"has_file", has_file},
                   {"tiers", std::move(tiers)},
                   {"times", std::move(times)},
                   {"numbers", std::move(numbers)},
                   {"totals", totals_of(map)},
                   {"unnamed_max", unnamed_of(map)},
                   {"rows", rows_of(map)}};
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::heat
