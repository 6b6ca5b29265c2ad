// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/hotkeys_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/report/key_fields.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

json::value templates_value(const std::optional<TemplatesReport>& templates) {
  if (!templates) return nullptr;
  json::array list;
  list.reserve(templates->list.size());
  for (const TemplateReport& each : templates->list) {
    json::object out;
    add_name(out, each.name, each.name_truncated);
    write_fields(template_view(each), template_fields(), out);
    list.push_back(std::move(out));
  }
  return json::object{{"rest_rate_low", number(templates->rest_low)},
                      {"rest_rate_high", number(templates->rest_high)},
                      {"list", std::move(list)}};
}

// One key may have most of the little traffic: the headline mentions it, whatever the thresholds
// are.
std::string busiest(const Report& report) {
  constexpr double kLargeShare = 0.1;
  if (report.keys.empty() || !(report.keys.front().verdict.share >= kLargeShare)) return "";
  const detect::Verdict& key = report.keys.front().verdict;
  constexpr std::size_t kNameBytesMax = 64;
  return fmt::format("; the busiest, {}, has {:.1f} % of the accesses",
                     printable(key.count.key, kNameBytesMax), 100 * key.share);
}

std::string counts(const Report& report) {
  const auto keys = [](std::uint64_t count, const char* what) {
    return std::to_string(count) + (count == 1 ? " key is " : " keys are ") + what;
  };
  if (report.write_hot_keys == 0) return keys(report.hot_keys, "hot");
  if (report.hot_keys == 0) return keys(report.write_hot_keys, "write-hot");
  return keys(report.hot_keys, "hot") + ", " + keys(report.write_hot_keys, "write-hot");
}

json::array best_copies(const CopiesReport& copies) {
  json::array out;
  for (const CopiesReport::Copy& each : copies.top) {
    json::object copy;
    add_name(copy, each.name, each.name_truncated);
    copy["db"] = each.db;
    json::array commands;
    for (const std::string& command : each.commands) commands.emplace_back(printable(command));
    copy["commands"] = std::move(commands);
    copy["hits_rate"] = number(each.hits);
    copy["hits_rate_error"] = number(each.hits_error);
    copy["fills_rate"] = number(each.fills);
    copy["invalidations_rate"] = number(each.invalidations);
    copy["saved_rate"] = number(each.saved);
    const std::optional<double> cpu = server_cpu(copies, each);
    copy["server_cpu"] = cpu ? number(*cpu) : nullptr;
    copy["bytes"] = each.bytes.count;
    out.push_back(std::move(copy));
  }
  return out;
}

json::object scale_object(const admit::Scale& scale) {
  return {{"scale", number(scale.value)}, {"measured", scale.is_measured}};
}

json::value prices_value(const std::optional<CopiesReport::Prices>& prices) {
  if (!prices) return nullptr;
  return json::object{{"server", scale_object(prices->server)},
                      {"keeper", scale_object(prices->keeper)},
                      {"worker", scale_object(prices->worker)},
                      {"fill_wait_seconds", seconds(prices->fill_wait)}};
}

json::value copies_value(const std::optional<CopiesReport>& copies) {
  if (!copies) return nullptr;
  json::object out;
  out["choice"] = nullptr;
  if (copies->choice)
    out["choice"] = json::object{{"reads", copies->choice->reads},
                                 {"history", copies->choice->history},
                                 {"order", copies->choice->order}};
  out["saved"] = number(copies->saved);
  out["fill_cost"] = number(copies->fill_cost);
  out["fill_cost_spread"] = number(copies->fill_cost_spread);
  out["invalidation_cost"] = number(copies->invalidation_cost);
  out["read_cpu_seconds"] = copies->read_cpu ? seconds(*copies->read_cpu) : nullptr;
  out["proxy_read_cpu_seconds"] =
      copies->proxy_read_cpu ? seconds(*copies->proxy_read_cpu) : nullptr;
  out["proxy_fill_cpu_seconds"] =
      copies->proxy_fill_cpu ? seconds(*copies->proxy_fill_cpu) : nullptr;
  out["prices"] = prices_value(copies->prices);
  out["refused"] = json::object{{"seldom_read", copies->refused.seldom_read},
                                {"written", copies->refused.written},
                                {"too_big", copies->refused.too_big},
                                {"no_room", copies->refused.no_room}};
  out["entries_max"] = copies->entries_max;
  out["bytes_max"] = copies->bytes_max.count;
  json::array curve;
  for (const CopiesReport::Point& point : copies->curve)
    curve.push_back(json::object{{"entries", point.entries}, {"saved", number(point.saved)}});
  out["curve"] = std::move(curve);
  out["advice"] = budget_advice(*copies);
  out["top"] = best_copies(*copies);
  return out;
}

json::value fleet_value(const std::optional<FleetReport>& fleet) {
  if (!fleet) return nullptr;
  return json::object{{"name", printable(fleet->name)},
                      {"known", fleet->is_known},
                      {"instances", fleet->instances},
                      {"age_seconds", fleet->age ? seconds(*fleet->age) : nullptr},
                      {"merges", fleet->merges},
                      {"problem", one_line(fleet->problem, detect::kKeyBytesMax)}};
}

json::value near_value(const std::optional<NearReport>& near) {
  if (!near) return nullptr;
  json::array list;
  list.reserve(near->list.size());
  for (const NearReport::Name& each : near->list) {
    json::object name;
    add_name(name, each.name, each.name_truncated);
    name["clients"] = each.clients;
    list.push_back(std::move(name));
  }
  return json::object{{"clients", near->clients},
                      {"keeping_clients", near->keeping},
                      {"kept", near->kept},
                      {"names", near->names},
                      {"list", std::move(list)}};
}

// The counts of the key by all instances; null: the fleet does not list it.
json::value fleet_evidence(const detect::Verdict& verdict) {
  if (!verdict.fleet) return nullptr;
  return json::object{{"rate", number(verdict.fleet->rate_low)},
                      {"rate_high", number(verdict.fleet->rate_high)},
                      {"share", number(verdict.fleet->share)},
                      {"instances", verdict.fleet->instances}};
}

json::object key_object(const KeyView& key, const KeyReport& row, WallTime wall_at) {
  json::object out;
  add_name(out, key.raw_name, key.name_truncated);
  write_fields(key, key_fields(), out);
  out["fleet"] = fleet_evidence(row.verdict);
  out["since"] = iso_time(wall_at - std::chrono::duration_cast<WallTime::duration>(key.age));
  return out;
}

json::array keys_array(const Report& report, WallTime wall_at, const AddToKey& add) {
  json::array out;
  out.reserve(report.keys.size());
  for (std::size_t place = 0; place < report.keys.size(); ++place) {
    const KeyReport& row = report.keys[place];
    KeyView key = key_view(row, report.at);
    if (add) add(place, key);
    out.push_back(key_object(key, row, wall_at));
  }
  return out;
}

}  // namespace

json::object slots_object(const SlotsReport& report) {
  json::array nodes, slots;
  nodes.reserve(report.nodes.size());
  slots.reserve(report.slots.size());
  for (const SlotsReport::Node& node : report.nodes)
    nodes.push_back(json::object{{"name", printable(node.name)},
                                 {"slots", node.slots},
                                 {"rate", number(node.load)},
                                 {"cpu_cores", number(node.cpu)},
                                 {"executing_cores", number(node.executing)},
                                 {"bytes_rate", number(node.bytes_rate)},
                                 {"commands_rate", number(node.commands_rate)}});
  for (const SlotsReport::Slot& slot : report.slots) {
    const bool has_key = !slot.key.empty();
    const double all = report.nodes[slot.node].executing;
    slots.push_back(
        json::object{{"slot", slot.slot},
                     {"node", printable(report.nodes[slot.node].name)},
                     {"rate", number(slot.load)},
                     {"key", has_key ? json::value(printable(slot.key)) : nullptr},
                     {"key_rate", has_key ? number(slot.key_load) : nullptr},
                     {"tag", slot.tag.empty() ? nullptr : json::value(printable(slot.tag))},
                     {"cpu_share", all > 0 ? number(slot.executing / all) : nullptr},
                     {"bytes_rate", number(slot.bytes_rate)}});
  }
  return json::object{
      {"judged_by", report.by_cpu ? "cpu" : "commands"},
      {"why_not_cpu", report.by_cpu ? nullptr : json::value(printable(report.why_not))},
      {"nodes", std::move(nodes)},
      {"slots", std::move(slots)}};
}

std::string headline(const Report& report) {
  if (report.hot_keys == 0 && report.write_hot_keys == 0 && !report.undecided.empty())
    return "not proven yet: " + one_line(report.undecided, detect::kKeyBytesMax) + busiest(report);
  if (report.hot_keys == 0 && report.write_hot_keys == 0)
    return "nothing is hot: " + one_line(report.quiet, detect::kKeyBytesMax) + busiest(report);
  if (report.hot_means.empty()) return counts(report);
  return counts(report) + "; hot means " + one_line(report.hot_means, detect::kKeyBytesMax);
}

json::object hotkeys_object(const Report& report, WallTime wall_at, const AddToKey& add) {
  json::object node;
  write_fields(node_view(report), node_fields(), node);
  json::object out;
  out["at"] = iso_time(wall_at);
  out["window_seconds"] = seconds(report.window);
  out["uptime_seconds"] = seconds(report.uptime);
  out["nothing_hot"] = report.hot_keys == 0 && report.write_hot_keys == 0;
  out["headline"] = headline(report);
  out["hot_means"] = one_line(report.hot_means, detect::kKeyBytesMax);
  out["node"] = std::move(node);
  out["fleet"] = fleet_value(report.fleet);
  out["copies"] = copies_value(report.copies);
  out["near_caches"] = near_value(report.near_caches);
  out["cluster_load"] = report.slots ? json::value(slots_object(*report.slots)) : nullptr;
  out["templates"] = templates_value(report.templates);
  out["keys"] = keys_array(report, wall_at, add);
  return out;
}

std::string hotkeys_json(const Report& report, WallTime wall_at) {
  return json::serialize(hotkeys_object(report, wall_at)) + "\n";
}

}  // namespace heatsink::report
