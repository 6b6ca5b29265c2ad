// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/instances_json.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/report/json_values.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;
using report::number;

double per_second_of(std::uint64_t count) {
  return static_cast<double>(count) / std::chrono::duration<double>(kCountedOver).count();
}

json::object state_of(const Instance& instance, const httpd::Now& now) {
  return {{"name", printable(instance.name)},
          {"answers", instance.answers()},
          {"since", iso_time(now.wall_at(instance.since))},
          {"problem", one_line(instance.problem)}};
}

void add_totals_of(json::object& out, const Instance& instance, const detect::Summary& counted,
                   double all) {
  const NodeView& node = instance.view->node;
  const double requests = per_second_of(counted.requests);
  out["has_bounds"] = instance.counts.has_value() && has_bounds(instance);
  out["upstream"] = printable(node.upstream);
  out["upstream_up"] = node.upstream_up;
  out["coherence"] = one_line(node.coherence);
  out["requests_rate"] = number(requests);
  out["share"] = number(all > 0 ? requests / all : 0);
  out["reads_rate"] = number(per_second_of(counted.reads));
  out["writes_rate"] = number(per_second_of(counted.writes));
  out["hits_rate"] = number(per_second_of(counted.hits));
  out["offload"] = number(node.offload);
  out["clients"] = node.clients;
  out["hot_keys"] = node.hot_keys;
  out["cached_entries"] = node.cached_entries;
  out["stale_confirmed"] = node.stale_confirmed;
  out["uptime_seconds"] = report::seconds(instance.view->uptime);
}

const KeyView* verdict_on(const Instance& instance, std::string_view name, std::uint32_t db) {
  for (const KeyView& key : instance.view->keys)
    if (key.db == db && std::string_view(key.raw_name).substr(0, name.size()) == name &&
        (key.raw_name.size() == name.size() || name.size() == heat::Identity::kBytesMax))
      return &key;
  return nullptr;
}

void add_key_of(json::object& out, const Instance& instance, const detect::Summary& counted,
                const detect::KeyCount* count, const KeyView* verdict) {
  out["is_named"] = count != nullptr;
  out["rate_low"] = number(count == nullptr ? 0 : per_second_of(count->low));
  const std::uint64_t most = count == nullptr ? counted.absent_max : count->high;
  out["rate_high"] = has_bounds(instance) ? number(per_second_of(most)) : nullptr;
  out["writes_rate"] = number(count == nullptr ? 0 : per_second_of(count->writes));
  out["hits_rate"] = number(count == nullptr ? 0 : per_second_of(count->hits));
  out["verdict"] = verdict == nullptr ? "" : printable(verdict->verdict);
  out["reason"] = verdict == nullptr ? "" : one_line(verdict->reason);
  out["cached"] = verdict != nullptr && verdict->cached;
  out["upstream"] = printable(instance.view->node.upstream);
}

}  // namespace

json::array instances_array(const Picture& picture, const httpd::Now& now) {
  json::array out;
  for (std::size_t i = 0; i < picture.instances.size(); ++i) {
    const Instance& each = picture.instances[i];
    json::object row = state_of(each, now);
    if (picture.summaries[i])
      add_totals_of(row, each, *picture.summaries[i], picture.report.requests_rate);
    out.push_back(std::move(row));
  }
  return out;
}

std::string key_by_instance_json(const Picture& picture, std::string_view name, std::uint32_t db,
                                 const httpd::Now& now) {
  name = name.substr(0, heat::Identity::kBytesMax);
  const KeyHash whole = hash_of(name, false, db, picture.seed);
  const KeyHash cut = hash_of(name, true, db, picture.seed);
  json::array list;
  for (std::size_t i = 0; i < picture.instances.size(); ++i) {
    const Instance& each = picture.instances[i];
    json::object row = state_of(each, now);
    if (picture.summaries[i]) {
      const detect::Summary& counted = *picture.summaries[i];
      const auto found = std::find_if(
          counted.keys.begin(), counted.keys.end(),
          [&](const detect::KeyCount& key) { return key.hash == whole || key.hash == cut; });
      add_key_of(row, each, counted, found == counted.keys.end() ? nullptr : &*found,
                 verdict_on(each, name, db));
    }
    list.push_back(std::move(row));
  }
  json::object out;
  report::add_name(out, std::string(name), false);
  out["db"] = db;
  out["instances"] = std::move(list);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::app
