// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/dropping.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <utility>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/report/json_values.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

constexpr std::size_t kDropDepthMax = 4;
constexpr std::int64_t kDropDbMax = 1'000'000;
constexpr std::size_t kMemberBytesMax = 64;

Error wrong_drop(std::string sentence) {
  return invalid_argument(std::move(sentence) +
                          R"(: write {"name": "product:1"}, or {"name_base64": "...", "db": 0})");
}

// Nothing: not exactly one of both, or it is no text, or no Base64.
std::optional<std::string> dropped_name(const json::object& order) {
  const json::value* const name = order.if_contains("name");
  const json::value* const base64 = order.if_contains("name_base64");
  const json::value* const given = name != nullptr ? name : base64;
  if ((name == nullptr) == (base64 == nullptr) || !given->is_string()) return std::nullopt;
  const std::string text(given->get_string());
  return name != nullptr ? std::optional(text) : from_base64(text);
}

}  // namespace

Result<WarmKey> parse_drop_order(std::string_view body) {
  json::parse_options limits;
  limits.max_depth = kDropDepthMax;
  boost::system::error_code error;
  const json::value parsed = json::parse({body.data(), body.size()}, error, {}, limits);
  if (error) return wrong_drop("the body is not JSON (" + error.message() + ")");
  if (!parsed.is_object()) return wrong_drop("the body must be a JSON object");
  const json::object& order = parsed.get_object();
  for (const auto& member : order) {
    const std::string_view name(member.key().data(), member.key().size());
    if (name != "name" && name != "name_base64" && name != "db")
      return wrong_drop("\"" + printable(name, kMemberBytesMax) + "\" is not known here");
  }
  std::optional<std::string> name = dropped_name(order);
  if (!name) return wrong_drop("the key is missing or malformed");
  const json::value* const db = order.if_contains("db");
  if (db == nullptr) return WarmKey{*std::move(name), 0};
  if (!db->is_int64() || db->get_int64() < 0 || db->get_int64() > kDropDbMax)
    return wrong_drop("\"db\" must be the number of a database");
  return WarmKey{*std::move(name), static_cast<std::uint32_t>(db->get_int64())};
}

std::string drop_order_json(const WarmKey& key) {
  return json::serialize(json::object{{"name_base64", base64(key.name)}, {"db", key.db}});
}

std::string drop_json(const DropReport& report, WallTime wall_at) {
  json::object out;
  out["at"] = iso_time(wall_at);
  out["problem"] = printable(report.problem);
  add_name(out, report.key.name, false);
  out["db"] = report.key.db;
  out["copies"] = report.copies;
  out["bytes"] = report.bytes.count;
  out["next"] = printable(report.next);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::report
