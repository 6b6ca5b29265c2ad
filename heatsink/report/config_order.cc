// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/config_order.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <span>

#include "heatsink/base/printable.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

constexpr std::size_t kOrderDepthMax = 4;
constexpr std::size_t kShownBytes = 64;

// An object with these members only.
Result<json::object> object_of(std::string_view text, std::span<const std::string_view> members) {
  boost::system::error_code error;
  json::parse_options limits;
  limits.max_depth = kOrderDepthMax;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, limits);
  if (error) return invalid_argument("the body is not JSON: " + error.message());
  if (!value.is_object()) return invalid_argument("the body must be a JSON object");
  for (const auto& member : value.get_object()) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(members.begin(), members.end(), name) != members.end()) continue;
    std::string known;
    for (const std::string_view each : members)
      known += (known.empty() ? "" : ", ") + std::string(each);
    return invalid_argument("\"" + printable(name, kShownBytes) + "\" is not known here: use " +
                            known);
  }
  return std::move(value.get_object());
}

// False: the member is no text.
bool take_text(const json::object& from, std::string_view name, std::string& out) {
  const json::value* const value = from.if_contains(json::string_view(name.data(), name.size()));
  if (value == nullptr) return true;
  if (!value->is_string()) return false;
  out = std::string(value->get_string());
  return true;
}

bool take_flag(const json::object& from, std::string_view name, bool& out) {
  const json::value* const value = from.if_contains(json::string_view(name.data(), name.size()));
  if (value == nullptr) return true;
  if (!value->is_bool()) return false;
  out = value->get_bool();
  return true;
}

}  // namespace

Result<ConfigOrder> parse_config_order(std::string_view json) {
  constexpr std::array<std::string_view, 4> kMembers{"text", "name", "dry_run", "strict"};
  const Result<json::object> body = object_of(json, kMembers);
  if (!body.ok()) return body.error();
  ConfigOrder order;
  if (!body->contains("text") || !take_text(*body, "text", order.text))
    return invalid_argument("\"text\" must be the text of a configuration file (YAML)");
  if (!take_text(*body, "name", order.name))
    return invalid_argument("\"name\" must be the name of the file");
  if (!take_flag(*body, "dry_run", order.dry_run) || !take_flag(*body, "strict", order.strict))
    return invalid_argument("\"dry_run\" and \"strict\" must be true or false");
  return order;
}

Result<RuleOrder> parse_rule_order(std::string_view json) {
  constexpr std::array<std::string_view, 3> kMembers{"add", "remove", "dry_run"};
  const Result<json::object> body = object_of(json, kMembers);
  if (!body.ok()) return body.error();
  RuleOrder order;
  if (!take_text(*body, "add", order.add) || !take_text(*body, "remove", order.remove))
    return invalid_argument("\"add\" must be a rule, and \"remove\" the match of a rule");
  if (!take_flag(*body, "dry_run", order.dry_run))
    return invalid_argument("\"dry_run\" must be true or false");
  if (order.add.empty() == order.remove.empty())
    return invalid_argument(
        "write one of both: {\"add\": \"match=cart:*,level=off\"} or {\"remove\": \"cart:*\"}");
  return order;
}

std::string config_order_json(const ConfigOrder& order) {
  json::object out;
  out["text"] = order.text;
  out["name"] = order.name;
  out["dry_run"] = order.dry_run;
  out["strict"] = order.strict;
  return json::serialize(out);
}

std::string rule_order_json(const RuleOrder& order) {
  json::object out;
  if (!order.add.empty()) out["add"] = order.add;
  if (!order.remove.empty()) out["remove"] = order.remove;
  if (order.dry_run) out["dry_run"] = true;
  return json::serialize(out);
}

}  // namespace heatsink::report
