// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/slots_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/advice/advice.h"
#include "heatsink/base/printable.h"
#include "heatsink/report/hotkeys_json.h"

namespace heatsink::app {
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
