// SPDX-License-Identifier: Apache-2.0
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>

#include "apps/heatsink/top/explain_key.h"
#include "apps/heatsink/top/key_facts.h"
#include "apps/heatsink/top/paint.h"
#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

// Integers without an exponent, which Boost.JSON writes for each double. Not finite: null.
json::value plain_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

// `all`: accesses in the window. The shares are those that explain prints.
json::array tallies(const std::vector<TallyView>& list, double all) {
  const double seen = looked_at(list, all);
  json::array out;
  for (const TallyView& tally : list)
    out.push_back(json::object{{"name", tally.name},
                               {"low", plain_number(tally.count)},
                               {"share", plain_number(seen > 0 ? tally.count / seen : 0)}});
  return out;
}

json::object advice_object(const KeyView& key, const HotkeysView& view) {
  const advice::Advice advice = advice_on(key, view);
  json::array remedies;
  for (const advice::Remedy& remedy : advice.remedies) {
    json::array lines;
    for (const std::string& line : remedy.lines) lines.push_back(json::string(line));
    remedies.push_back(json::object{{"relief", to_string(remedy.relief)},
                                    {"done", remedy.done},
                                    {"helps", remedy.helps},
                                    {"key_removed", plain_number(remedy.effect.key_removed)},
                                    {"node_removed", plain_number(remedy.effect.node_removed)},
                                    {"memory_bytes", remedy.effect.memory.count},
                                    {"text", remedy.text},
                                    {"lines", std::move(lines)}});
  }
  return {{"headline", advice.headline}, {"remedies", std::move(remedies)}};
}

void add_value(json::object& out, const KeyView& key) {
  out["value_bytes"] = key.value_bytes ? json::value(key.value_bytes->count) : nullptr;
  out["memory_bytes"] = key.memory_bytes ? json::value(key.memory_bytes->count) : nullptr;
  out["type"] = key.type.empty() ? json::value() : json::value(key.type);
  out["encoding"] = key.encoding.empty() ? json::value() : json::value(key.encoding);
  out["ttl_seconds"] =
      key.ttl ? plain_number(std::chrono::duration<double>(*key.ttl).count()) : json::value();
}

json::object row_object(const KeyView& key, const HotkeysView& view) {
  json::object out{{"db", key.db},
                   {"verdict", key.verdict},
                   {"reason", key.reason},
                   {"rule", key.rule},
                   {"dimension", key.dimension},
                   {"age_seconds", plain_number(std::chrono::duration<double>(key.age).count())},
                   {"rate", plain_number(key.rate)},
                   {"rate_low", plain_number(key.rate_low)},
                   {"rate_high", plain_number(key.rate_high)},
                   {"share", plain_number(key.share)},
                   {"reads_rate", plain_number(key.reads_rate)},
                   {"writes_rate", plain_number(key.writes_rate)},
                   {"hits_rate", plain_number(key.hits_rate)},
                   {"misses_rate", plain_number(key.misses_rate)},
                   {"hit_ratio", plain_number(key.hit_ratio)},
                   {"offload", plain_number(key.offload)},
                   {"bytes_rate", plain_number(key.bytes_rate)},
                   {"cached", key.cached},
                   {"cache_note", key.cache_note},
                   {"kept_by_clients", key.kept_by},
                   {"commands", tallies(key.commands, accesses_in_window(key))},
                   {"clients", tallies(key.clients, accesses_in_window(key))}};
  add_value(out, key);
  out["node"] = key.node.empty() ? view.node.upstream : key.node;
  const auto slot = slot_of(key);
  out["slot"] = view.cluster && slot ? json::value(*slot) : nullptr;
  out["advice"] = advice_object(key, view);
  return out;
}

}  // namespace

std::string explain_json(const HotkeysView& view, const Question& question) {
  json::array rows;
  for (const KeyView* key : find_rows(view, question)) rows.push_back(row_object(*key, view));
  json::object out{
      {"key", printable(question.raw_name)},  {"key_base64", base64(question.raw_name)},
      {"listed", is_listed(view, question)},  {"keys_listed", listed_keys(view)},
      {"warm", plain_number(view.node.warm)}, {"absent_max", plain_number(view.node.absent_max)},
      {"dimension", view.node.dimension},     {"rows", std::move(rows)}};
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::app
