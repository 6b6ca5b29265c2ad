// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/live_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;
using policy::OptionChange;

constexpr std::size_t kTextBytes = 2048;

const char* name_of(ConfigOutcome outcome) {
  switch (outcome) {
    case ConfigOutcome::kApplied:
      return "applied";
    case ConfigOutcome::kNothing:
      return "nothing";
    case ConfigOutcome::kChecked:
      return "checked";
    case ConfigOutcome::kRefused:
      break;
  }
  return "refused";
}

// Text that may have bytes which are not UTF-8.
json::string text_of(const std::string& text) { return json::string(one_line(text, kTextBytes)); }

json::object object_of(const OptionChange& change) {
  json::object out;
  out["name"] = text_of(change.name);
  out["before"] = text_of(change.before);
  out["after"] = text_of(change.after);
  out["text"] = text_of(change_text(change));
  return out;
}

json::array array_of(const std::vector<OptionChange>& changes) {
  json::array out;
  for (const OptionChange& each : changes) out.push_back(object_of(each));
  return out;
}

json::array array_of(const std::vector<BuiltConfiguration::Rule>& rules,
                     const policy::ShownName& shown) {
  json::array out;
  for (const BuiltConfiguration::Rule& rule : rules) {
    policy::RuleOptions shown_rule = rule.options;
    shown_rule.match = policy::rule_label(rule.options, shown);
    json::object each;
    each["match"] = text_of(shown_rule.match);
    each["rule"] = text_of(policy::rule_text(shown_rule));
    each["origin"] = text_of(rule.origin);
    each["live"] = rule.is_live;
    out.push_back(std::move(each));
  }
  return out;
}

json::object options_of(const LiveConfiguration::Effective& now) {
  policy::ProxyOptions options = now.options;
  if (!options.admin_token.empty()) options.admin_token = net::kHiddenPassword;
  if (!options.alerts.webhook.empty()) options.alerts.webhook = net::kHiddenPassword;
  options.alerts.command = options.alerts.shown_command();
  if (const Result<net::RedisUrl> url = net::parse_upstream_url(options.upstream); url.ok())
    options.upstream = url->redacted();
  OptionSet rows;
  options.describe(rows);
  json::object out;
  for (const OptionRow& row : rows.rows()) {
    json::object each;
    each["value"] = text_of(rows.value_text(row));
    each["needs_restart"] = row.needs_restart;
    out[row.name] = std::move(each);
  }
  return out;
}

Result<json::object> parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object())
    return Error{ErrorCode::kProtocol, "its answer is not that of heatsink's admin API"};
  return std::move(value.get_object());
}

std::string text_in(const json::object& from, json::string_view name) {
  const json::value* const value = from.if_contains(name);
  return value != nullptr && value->is_string()
             ? one_line(std::string(value->get_string()), kTextBytes)
             : "";
}

template <class Visit>
void for_each_in(const json::object& from, json::string_view name, Visit visit) {
  const json::value* const list = from.if_contains(name);
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& each : list->get_array()) visit(each);
}

void add_changes(const json::object& from, json::string_view name, const std::string& before,
                 std::vector<std::string>& lines) {
  for_each_in(from, name, [&](const json::value& each) {
    if (each.is_object()) lines.push_back(before + text_in(each.get_object(), "text"));
  });
}

std::string headline(const std::string& outcome) {
  if (outcome == "applied") return "applied:";
  if (outcome == "checked") return "would change:";
  if (outcome == "refused") return "refused, and nothing was changed:";
  return "nothing to change";
}

}  // namespace

std::string config_json(const LiveConfiguration::Effective& now, const policy::ShownName& shown) {
  json::object out;
  out["generation"] = now.generation;
  out["applied_at"] = iso_time(now.applied_at);
  out["file"] = text_of(now.file);
  out["options"] = options_of(now);
  out["rules"] = array_of(now.rules, shown);
  out["removed_rules"] = array_of(now.left_out, shown);
  out["needs_restart"] = array_of(now.needs_restart);
  return json::serialize(out) + "\n";
}

std::string change_json(const ConfigAnswer& answer) {
  json::object out;
  out["outcome"] = name_of(answer.outcome);
  out["generation"] = answer.generation;
  out["changes"] = array_of(answer.changes);
  out["needs_restart"] = array_of(answer.needs_restart);
  json::array faults;
  for (const Error& fault : answer.faults) faults.push_back(text_of(fault.message));
  out["faults"] = std::move(faults);
  out["note"] = text_of(answer.note);
  return json::serialize(out) + "\n";
}

Result<ChangeLines> change_lines(std::string_view text) {
  const Result<json::object> answer = parsed(text);
  if (!answer.ok()) return answer.error();
  const std::string outcome = text_in(*answer, "outcome");
  ChangeLines out{outcome == "refused", {headline(outcome)}};
  for_each_in(*answer, "faults", [&](const json::value& fault) {
    if (fault.is_string())
      out.lines.push_back("  " + one_line(std::string(fault.get_string()), kTextBytes));
  });
  add_changes(*answer, "changes", "  ", out.lines);
  add_changes(*answer, "needs_restart", "not applied: ", out.lines);
  if (const std::string note = text_in(*answer, "note"); !note.empty())
    out.lines.push_back("note: " + note);
  return out;
}

Result<std::vector<std::string>> rule_lines(std::string_view text) {
  const Result<json::object> answer = parsed(text);
  if (!answer.ok()) return answer.error();
  std::vector<std::string> lines;
  const auto add = [&](const char* list, const std::string& mark) {
    for_each_in(*answer, list, [&](const json::value& each) {
      if (!each.is_object()) return;
      const json::object& rule = each.get_object();
      lines.push_back(mark + text_in(rule, "rule") + "  (" + text_in(rule, "origin") + ")");
    });
  };
  add("rules", "");
  add("removed_rules", "removed: ");
  return lines;
}

}  // namespace heatsink::app
