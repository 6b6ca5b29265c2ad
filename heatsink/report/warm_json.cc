// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/warm_json.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <optional>
#include <utility>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

constexpr std::size_t kDepthMax = 4;

std::optional<std::string> name_in(const json::object& object) {
  const json::value* name = object.if_contains("name");
  const json::value* base64 = object.if_contains("name_base64");
  if ((name == nullptr) == (base64 == nullptr)) return std::nullopt;
  if (name != nullptr)
    return name->is_string() ? std::optional(std::string(name->get_string())) : std::nullopt;
  return base64->is_string() ? from_base64(base64->get_string()) : std::nullopt;
}

std::optional<std::uint32_t> db_in(const json::object& object) {
  const json::value* db = object.if_contains("db");
  if (db == nullptr) return 0;
  if (!db->is_int64() || db->get_int64() < 0 || db->get_int64() > 1'000'000) return std::nullopt;
  return static_cast<std::uint32_t>(db->get_int64());
}

// A plain name means database 0.
std::optional<WarmKey> key_in(const json::value& value) {
  if (value.is_string()) return WarmKey{std::string(value.get_string()), 0};
  if (!value.is_object()) return std::nullopt;
  std::optional<std::string> name = name_in(value.get_object());
  const std::optional<std::uint32_t> db = db_in(value.get_object());
  if (!name || !db) return std::nullopt;
  return WarmKey{std::move(*name), *db};
}

Result<std::vector<WarmKey>> keys_in(const json::object& order) {
  const json::value* keys = order.if_contains("keys");
  if (keys == nullptr || !keys->is_array() || keys->get_array().empty())
    return invalid_argument("\"keys\" must be a list with at least one name");
  if (keys->get_array().size() > WarmOrder::kKeysMax) {
    return invalid_argument("\"keys\" has more than " + std::to_string(WarmOrder::kKeysMax) +
                            " keys: split them into several requests");
  }
  std::vector<WarmKey> out;
  for (const json::value& each : keys->get_array()) {
    std::optional<WarmKey> key = key_in(each);
    if (!key) {
      return invalid_argument(
          "key " + std::to_string(out.size() + 1) +
          " in \"keys\" is malformed: write \"name\", or {\"name_base64\": \"...\", \"db\": 0}");
    }
    out.push_back(std::move(*key));
  }
  return out;
}

Result<Nanos> time_in(const json::object& order) {
  const json::value* time = order.if_contains("for_seconds");
  const double seconds = time != nullptr && time->is_number() ? time->to_number<double>() : 0;
  const double most = std::chrono::duration<double>(WarmOrder::kLastsMax).count();
  if (!std::isfinite(seconds) || seconds < 1 || seconds > most)
    return invalid_argument("\"for_seconds\" must be 1 .. " +
                            std::to_string(static_cast<int>(most)));
  return Nanos(static_cast<std::int64_t>(seconds * 1e9));
}

// A whole number from `least` to `most`; `otherwise` if it is missing.
std::optional<std::size_t> count_in(const json::object& order, const char* name,
                                    std::size_t otherwise, std::size_t least, std::size_t most) {
  const json::value* count = order.if_contains(name);
  if (count == nullptr) return otherwise;
  if (!count->is_int64() || count->get_int64() < 0) return std::nullopt;
  const auto number = static_cast<std::size_t>(count->get_int64());
  return number >= least && number <= most ? std::optional(number) : std::nullopt;
}

Error beyond(const char* name, std::size_t least, std::size_t most) {
  return invalid_argument(std::string("\"") + name + "\" must be " + std::to_string(least) +
                          " .. " + std::to_string(most));
}

Result<std::string> glob_in(const json::object& order) {
  const json::value* text = order.if_contains("pattern");
  const json::value* base64 = order.if_contains("pattern_base64");
  std::optional<std::string> glob;
  if (text != nullptr && base64 == nullptr && text->is_string())
    glob = std::string(text->get_string());
  if (text == nullptr && base64 != nullptr && base64->is_string())
    glob = from_base64(base64->get_string());
  if (!glob)
    return invalid_argument(
        "the pattern is malformed: "
        "write \"pattern\": \"product:*\", or \"pattern_base64\", not both");
  if (std::string fault = report::pattern_fault(*glob); !fault.empty())
    return invalid_argument(std::move(fault));
  return *std::move(glob);
}

Result<WarmPattern> pattern_in(const json::object& order) {
  constexpr std::size_t kRateMax = 1'000'000;
  Result<std::string> glob = glob_in(order);
  if (!glob.ok()) return glob.error();
  WarmPattern out;
  const auto db = db_in(order);
  const auto limit = count_in(order, "limit", out.keys_max, 1, WarmPattern::kKeysMax);
  const auto loading = count_in(order, "concurrency", out.loading_max, 1, WarmPattern::kLoadingMax);
  const json::value* rate = order.if_contains("rate");
  if (rate != nullptr && rate->is_number()) out.keys_per_second = rate->to_number<double>();
  if (!db) return beyond("db", 0, 1'000'000);
  if (!limit) return beyond("limit", 1, WarmPattern::kKeysMax);
  if (!loading) return beyond("concurrency", 1, WarmPattern::kLoadingMax);
  if ((rate != nullptr && !rate->is_number()) || !(out.keys_per_second >= 0) ||
      out.keys_per_second > kRateMax)
    return beyond("rate", 0, kRateMax);
  out.glob = *std::move(glob);
  out.db = *db;
  out.keys_max = *limit;
  out.loading_max = *loading;
  return out;
}

bool has_pattern(const json::object& order) {
  return order.contains("pattern") || order.contains("pattern_base64");
}

// The subject of an order: keys, a pattern or, to end a warming, a search.
Result<WarmOrder> order_in(const json::object& object, bool ends) {
  WarmOrder order;
  order.ends = ends;
  const bool of_search = ends && object.contains("search");
  if (object.contains("keys") + has_pattern(object) + of_search > 1)
    return invalid_argument(
        "\"keys\", \"pattern\" and \"search\" cannot be combined: write one of them");
  if (of_search) {
    const auto search = count_in(object, "search", 0, 1, ~std::size_t{0} >> 1U);
    if (!search)
      return invalid_argument(
          "\"search\" must be the number of a search, from the answer to its POST");
    order.search = *search;
  } else if (has_pattern(object)) {
    Result<WarmPattern> pattern = pattern_in(object);
    if (!pattern.ok()) return pattern.error();
    order.pattern = *std::move(pattern);
  } else {
    Result<std::vector<WarmKey>> keys = keys_in(object);
    if (!keys.ok()) return keys.error();
    order.keys = *std::move(keys);
  }
  return order;
}

json::value wall_time(TimePoint moment, TimePoint at, WallTime wall_at) {
  return json::value(
      iso_time(wall_at + std::chrono::duration_cast<WallTime::duration>(moment - at)));
}

json::object search_object(const WarmSearch& search, TimePoint at, WallTime wall_at) {
  json::array names;
  for (const std::string& name : search.left_out_names)
    names.push_back(json::string(printable(name)));
  json::object out;
  out["id"] = search.id;
  out["pattern"] = printable(search.glob);
  out["db"] = search.db;
  out["state"] = report::to_string(search.state);
  out["note"] = printable(search.note);
  out["progress"] = number(search.progress);
  out["found"] = search.found;
  out["warmed"] = search.warmed;
  out["loading"] = search.loading;
  out["left_out"] = search.left_out;
  out["left_out_names"] = std::move(names);
  out["warmed_until"] = wall_time(search.until, at, wall_at);
  return out;
}

json::object key_object(const WarmedKey& key, TimePoint at, WallTime wall_at) {
  const bool warmed = key.until > TimePoint{};
  json::object out;
  add_name(out, key.key.name, false);
  out["db"] = key.key.db;
  out["outcome"] = report::to_string(key.outcome);
  out["note"] = printable(key.note);
  out["warmed_until"] = warmed ? wall_time(key.until, at, wall_at) : nullptr;
  return out;
}

}  // namespace

Result<WarmOrder> parse_warm_order(std::string_view body, bool ends) {
  json::parse_options options;
  options.max_depth = kDepthMax;
  json::error_code error;
  const json::value parsed = json::parse({body.data(), body.size()}, error, {}, options);
  if (error) return invalid_argument("the body is not JSON: " + error.message());
  if (!parsed.is_object())
    return invalid_argument("the body must be a JSON object: {\"keys\": [...], ...}");
  Result<WarmOrder> order = order_in(parsed.get_object(), ends);
  if (!order.ok() || ends) return order;
  const Result<Nanos> time = time_in(parsed.get_object());
  if (!time.ok()) return time.error();
  order->lasts = *time;
  return order;
}

std::string warm_json(const WarmReport& report, WallTime wall_at) {
  json::array keys;
  for (const WarmedKey& key : report.keys) keys.push_back(key_object(key, report.at, wall_at));
  json::array searches;
  for (const WarmSearch& search : report.searches)
    searches.push_back(search_object(search, report.at, wall_at));
  json::object out;
  out["at"] = iso_time(wall_at);
  out["problem"] = printable(report.problem);
  out["keys"] = std::move(keys);
  out["searches"] = std::move(searches);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::report
