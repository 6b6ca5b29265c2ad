// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/findings_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>

namespace heatsink::doctor {
namespace {

namespace json = boost::json;

constexpr std::array kLevels = {Level::kOk, Level::kNote, Level::kWarning, Level::kError};

json::object finding_object(const Finding& finding) {
  json::object out;
  out["code"] = finding.code;
  out["level"] = to_string(finding.level);
  out["what"] = finding.what;
  out["cost"] = finding.cost;
  out["mend"] = finding.mend;
  out["paste"] = finding.paste;
  return out;
}

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? "" : std::string(*text);
}

Finding finding_of(const json::object& object) {
  const std::string level = text_of(object, "level");
  const auto known =
      std::ranges::find_if(kLevels, [&](Level each) { return to_string(each) == level; });
  return {.level = known == kLevels.end() ? Level::kNote : *known,
          .what = text_of(object, "what"),
          .cost = text_of(object, "cost"),
          .mend = text_of(object, "mend"),
          .paste = text_of(object, "paste"),
          .code = text_of(object, "code")};
}

}  // namespace

std::string diagnosis_json(const Diagnosis& diagnosis) {
  json::array findings;
  for (const Finding& finding : diagnosis.findings) findings.push_back(finding_object(finding));
  json::object counts;
  for (const Level level : kLevels) counts[to_string(level)] = count_of(diagnosis.findings, level);
  json::object out;
  out["ready"] = diagnosis.is_ready;
  out["problem"] = diagnosis.problem;
  out["checked_at"] =
      diagnosis.checked_at.empty() ? json::value() : json::value(diagnosis.checked_at);
  out["counts"] = std::move(counts);
  out["checks_left_out"] = diagnosis.left_out;
  out["findings"] = std::move(findings);
  return json::serialize(out) + "\n";
}

Result<Diagnosis> parse_diagnosis(std::string_view text) {
  boost::system::error_code fault;
  const json::value parsed = json::parse(text, fault);
  const json::object* const object = fault ? nullptr : parsed.if_object();
  const json::value* const list = object == nullptr ? nullptr : object->if_contains("findings");
  if (list == nullptr || !list->is_array())
    return Error{ErrorCode::kProtocol, "its answer is no list of findings"};
  Diagnosis out;
  const json::value* const ready = object->if_contains("ready");
  out.is_ready = ready != nullptr && ready->is_bool() && ready->get_bool();
  out.problem = text_of(*object, "problem");
  out.checked_at = text_of(*object, "checked_at");
  if (const json::value* const left = object->if_contains("checks_left_out");
      left != nullptr && left->is_int64())
    out.left_out = static_cast<std::size_t>(std::max<std::int64_t>(0, left->get_int64()));
  for (const json::value& each : list->get_array()) {
    if (out.findings.size() == kFindingsMax) break;
    if (each.is_object()) out.findings.push_back(finding_of(each.get_object()));
  }
  return out;
}

}  // namespace heatsink::doctor
