// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/advice_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "apps/heatsink/top/explain_key.h"
#include "apps/heatsink/top/key_facts.h"
#include "apps/heatsink/top/view.h"
#include "heatsink/advice/advice.h"
#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/inspection.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

// The one in force that takes off half of the key's load or more; else the first one that helps.
const advice::Remedy* best_of(const advice::Advice& advice) {
  const auto& all = advice.remedies;
  auto best = std::ranges::find_if(
      all, [](const advice::Remedy& each) { return each.done && each.effect.key_removed >= 0.5; });
  if (best == all.end()) best = std::ranges::find_if(all, &advice::Remedy::helps);
  if (best == all.end()) best = std::ranges::find_if(all, &advice::Remedy::done);
  return best == all.end() ? nullptr : &*best;
}

json::object row_of(const KeyView& key, const HotkeysView& view) {
  const advice::Advice advice = advice_on(key, view);
  json::object row{{"name_base64", base64(key.raw_name)},
                   {"db", key.db},
                   {"headline", advice.headline},
                   {"best", nullptr}};
  if (const advice::Remedy* const best = best_of(advice)) {
    row["best"] = json::object{{"relief", to_string(best->relief)},
                               {"done", best->done},
                               {"key_removed", report::number(best->effect.key_removed)},
                               {"node_removed", report::number(best->effect.node_removed)}};
  }
  return row;
}

}  // namespace

Result<std::string> advice_json(const report::Report& report, WallTime wall) {
  const Result<HotkeysView> view = parse_hotkeys(report::hotkeys_json(report, wall));
  if (!view) return view.error();
  json::array rows;
  for (const KeyView& key : view->keys) rows.push_back(row_of(key, *view));
  return json::serialize(json::object{{"keys", std::move(rows)}}) + "\n";
}

Result<std::string> explained_json(const report::KeyInspection& key, TimePoint boot,
                                   WallTime wall) {
  const Result<HotkeysView> view = parse_hotkeys(report::key_json(key, boot, wall));
  if (!view) return view.error();
  if (view->keys.empty()) return Error{ErrorCode::kUnavailable, key.problem};
  const KeyView& row = view->keys.front();
  return explain_json(*view, {row.raw_name, row.db});
}

namespace {

namespace json = boost::json;

advice::ClusterLoad load_of(const report::SlotsReport& report) {
  advice::ClusterLoad out;
  out.nodes.reserve(report.nodes.size());
  for (const auto& node : report.nodes) out.nodes.push_back({printable(node.name), node.load});
  out.slots.reserve(report.slots.size());
  for (const auto& slot : report.slots)
    out.slots.push_back(
        {slot.slot, slot.load, slot.node, printable(slot.key), slot.key_load, printable(slot.tag)});
  if (!report.by_cpu) return out;
  advice::CpuTime cpu;
  for (const auto& node : report.nodes) cpu.nodes.push_back({node.cpu, node.commands_rate});
  for (const auto& slot : report.slots)
    cpu.shares.push_back(slot.executing / report.nodes[slot.node].executing);
  return advice::in_cpu_time(std::move(out), cpu);
}

}  // namespace

std::string slots_json(const report::Report& report) {
  if (!report.slots || report.slots->nodes.empty()) return "";
  const advice::ClusterLoad load = load_of(*report.slots);
  const advice::Imbalance imbalance = advice::imbalance_of(load.nodes);
  json::array advice;
  for (const advice::SlotAdvice& each : advice::advise_slots(load)) {
    json::object out{{"kind", advice::to_string(each.kind)}, {"text", each.text}};
    json::array slots;
    for (const std::uint16_t slot : each.slots) slots.push_back(slot);
    out["slots"] = std::move(slots);
    out["from"] = each.from ? json::value(load.nodes[*each.from].name) : nullptr;
    out["to"] = each.to ? json::value(load.nodes[*each.to].name) : nullptr;
    advice.push_back(std::move(out));
  }
  json::object out = report::slots_object(*report.slots);
  out["imbalance"] = imbalance.max_to_mean;
  out["busiest"] = load.nodes[imbalance.busiest].name;
  out["advice"] = std::move(advice);
  return json::serialize(out) + "\n";
}

}  // namespace heatsink::app
