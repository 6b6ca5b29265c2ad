// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/verdict_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/detect/key_template.h"
#include "heatsink/report/json_values.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

// Valid UTF-8 without control characters, so that JSON can carry it as it is.
bool is_plain_text(const std::string& name) { return one_line(name, name.size()) == name; }

std::string time_text(TimePoint at, BothClocks now) {
  return iso_time(now.wall - std::chrono::duration_cast<WallTime::duration>(now.boot - at));
}

void add_key(json::object& out, const VerdictForClients& key, BothClocks now) {
  const detect::Verdict& verdict = key.verdict;
  const std::string& name = verdict.count.key;
  const bool is_plain = is_plain_text(name);
  if (is_plain) {
    out["key"] = name;
  } else {
    out["key"] = nullptr;
    out["key_base64"] = base64(name);
  }
  if (verdict.count.key_truncated) out["key_truncated"] = true;
  out["db"] = verdict.count.db;
  out["state"] = detect::to_string(verdict.temperature);
  out["rate"] = number(verdict.rate);
  out["rate_low"] = number(verdict.rate_low);
  out["rate_high"] = number(verdict.rate_high);
  out["dimension"] = detect::to_string(verdict.measure.dimension);
  // A warmed key has no time of its own.
  out["since"] = time_text(verdict.since == TimePoint{} ? now.boot : verdict.since, now);
  out["copies"] = key.copies;
  if (is_plain) out["template"] = detect::key_template(name);
  if (!verdict.rule.empty()) out["rule"] = printable(verdict.rule, detect::kKeyBytesMax);
}

}  // namespace

std::string change_json(const VerdictForClients& key, detect::Temperature before, BothClocks now) {
  json::object out;
  out["type"] = "change";
  out["time"] = iso_time(now.wall);
  add_key(out, key, now);
  out["before"] = detect::to_string(before);
  return json::serialize(out);
}

std::string list_json(std::span<const VerdictForClients> keys, bool is_complete, BothClocks now) {
  json::object out;
  out["type"] = "list";
  out["time"] = iso_time(now.wall);
  out["complete"] = is_complete;
  json::array list;
  list.reserve(keys.size());
  for (const VerdictForClients& key : keys) {
    json::object row;
    add_key(row, key, now);
    list.push_back(std::move(row));
  }
  out["keys"] = std::move(list);
  return json::serialize(out);
}

}  // namespace heatsink::report
