// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/parse_heatmap.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "heatsink/base/base64.h"
#include "heatsink/heat/history.h"
#include "heatsink/heat/step_json.h"

namespace heatsink::heat {
namespace {

namespace json = boost::json;

constexpr std::size_t kDepthMax = 8;
constexpr double kSecondsMax = 4e9;  // no arithmetic on so many nanoseconds overflows

Error not_a_heatmap(const std::string& what) {
  return {ErrorCode::kProtocol, "this is not an answer of /api/heatmap: " + what};
}

// Reads the members of one object; keeps the first fault, after which the values do not matter.
class MapMembers {
 public:
  MapMembers(const json::object& object, std::optional<Error>& fault)
      : object_(object), fault_(fault) {}

  bool has(std::string_view name) const { return object_.contains(name); }
  double number(std::string_view name) {
    const json::value* const value = object_.if_contains(name);
    if (value != nullptr && value->is_number()) return value->to_number<double>();
    return fail(name, "a number"), 0;
  }
  std::int64_t seconds(std::string_view name) {
    return static_cast<std::int64_t>(std::clamp(number(name), 0.0, kSecondsMax));
  }
  bool flag(std::string_view name) {
    const json::value* const value = object_.if_contains(name);
    if (value != nullptr && value->is_bool()) return value->get_bool();
    return fail(name, "true or false"), false;
  }
  std::string text(std::string_view name) {
    const json::value* const value = object_.if_contains(name);
    if (value != nullptr && value->is_string())
      return {value->get_string().data(), value->get_string().size()};
    return fail(name, "a string"), "";
  }
  std::string bytes(std::string_view name) {
    std::optional<std::string> out = from_base64(text(name));
    if (!out) fail(name, "base64");
    return std::move(out).value_or("");
  }
  json::array array(std::string_view name) {
    const json::value* const value = object_.if_contains(name);
    if (value != nullptr && value->is_array()) return value->get_array();
    return fail(name, "an array"), json::array();
  }
  json::object object(std::string_view name) {
    const json::value* const value = object_.if_contains(name);
    if (value != nullptr && value->is_object()) return value->get_object();
    return fail(name, "an object"), json::object();
  }
  void fail(std::string_view name, std::string_view type) {
    if (!fault_)
      fault_ = not_a_heatmap("\"" + std::string(name) + "\" must be " + std::string(type));
  }

 private:
  const json::object& object_;
  std::optional<Error>& fault_;
};

// NaN: not known.
float value_at(const json::object& lists, std::string_view name, std::size_t i) {
  const json::value* const list = lists.if_contains(name);
  if (list == nullptr || !list->is_array() || i >= list->get_array().size()) return NAN;
  const json::value& value = list->get_array()[i];
  return value.is_number() ? static_cast<float>(value.to_number<double>()) : NAN;
}

void read_steps(MapMembers& members, HeatMap& map) {
  const json::array times = members.array("times"), numbers = members.array("numbers");
  const json::object totals = members.object("totals"), unnamed = members.object("unnamed_max");
  if (times.size() > History::kStepsMax || numbers.size() != times.size())
    return members.fail("numbers", "as many as \"times\", and at most 1440");
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!times[i].is_number() || !numbers[i].is_number())
      return members.fail("times", "a list of numbers");
    const double at = std::clamp(times[i].to_number<double>(), 0.0, kSecondsMax);
    HeatMap::Step& step = map.steps.emplace_back();
    step.begin = TimePoint(std::chrono::seconds(static_cast<std::int64_t>(at)));
    step.number = static_cast<std::int64_t>(
        std::clamp(numbers[i].to_number<double>(), 0.0, 1000 * kSecondsMax));
    step.seconds = static_cast<std::uint32_t>(map.step / std::chrono::seconds(1));
    for (std::size_t each = 0; each < kTotalNames.size(); ++each)
      step.totals[each] = value_at(totals, kTotalNames[each], i);
    step.requests_max = value_at(totals, "requests_max", i);
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      step.unnamed_max[kind] = value_at(unnamed, to_string(static_cast<Kind>(kind)), i);
  }
}

std::optional<Kind> kind_named(std::string_view name) {
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    if (name == to_string(static_cast<Kind>(kind))) return static_cast<Kind>(kind);
  return std::nullopt;
}

void read_row(MapMembers members, HeatMap& map) {
  const std::optional<Kind> kind = kind_named(members.text("kind"));
  if (!kind) return;
  HeatMap::Row row{.identity = {.kind = *kind,
                                .db = static_cast<std::uint32_t>(members.seconds("db")),
                                .is_cut = members.flag("name_truncated"),
                                .name = members.bytes("name_base64")}};
  row.identity.name.resize(std::min(row.identity.name.size(), Identity::kBytesMax));
  for (auto [name, plane] :
       {std::pair{"mean", &row.mean}, std::pair{"max", &row.max}, std::pair{"writes", &row.writes},
        std::pair{"hits", &row.hits}, std::pair{"bytes", &row.bytes}}) {
    if (plane == &row.bytes && !members.has(name)) {  // an earlier version
      plane->assign(map.steps.size(), 0);
      continue;
    }
    const std::string codes = members.bytes(name);
    if (codes.size() != map.steps.size()) return members.fail(name, "a byte for each step");
    plane->assign(codes.begin(), codes.end());
  }
  map.rows.push_back(std::move(row));
}

}  // namespace

Result<HeatMap> parse_heatmap(std::string_view text) {
  if (text.size() > kHeatmapBytesMax) return not_a_heatmap("it is too long");
  json::error_code why;
  json::parse_options options;
  options.max_depth = kDepthMax;
  const json::value document = json::parse(text, why, {}, options);
  if (why || !document.is_object()) return not_a_heatmap("it is no JSON object");
  std::optional<Error> fault;
  MapMembers members(document.get_object(), fault);
  HeatMap map;
  map.step = std::chrono::seconds(std::max<std::int64_t>(members.seconds("step_seconds"), 1));
  map.window = std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(
      std::clamp(members.number("window_seconds"), 0.0, kSecondsMax)));
  if (members.text("source") == "file") map.source = HeatMap::Source::kFile;
  read_steps(members, map);
  const json::array rows = members.array("rows");
  if (rows.size() > History::kRowsMax) members.fail("rows", "at most 256");
  for (const json::value& row : rows) {
    if (fault) return *fault;
    if (!row.is_object()) return not_a_heatmap("\"rows\" must hold objects");
    read_row(MapMembers(row.get_object(), fault), map);
  }
  if (fault) return *fault;
  return map;
}

}  // namespace heatsink::heat
