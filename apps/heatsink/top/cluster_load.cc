// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/cluster_load.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/advice/advice.h"
#include "heatsink/resp/resp.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

constexpr std::size_t kNodesMax = 1024, kAdviceMax = 8;

struct LoadedNode {
  std::string name;
  double rate = 0;
  double cpu = kUnknown, bytes_rate = kUnknown, commands_rate = kUnknown;
};

// Older proxies do not say what the servers count.
void read_known(Members& members, std::string_view name, double& out) {
  if (members.has(name)) members.read(name, out);
}

LoadedNode read_loaded_node(Members members) {
  LoadedNode node;
  members.read("name", node.name);
  members.read("rate", node.rate);
  read_known(members, "cpu_cores", node.cpu);
  read_known(members, "bytes_rate", node.bytes_rate);
  read_known(members, "commands_rate", node.commands_rate);
  return node;
}

struct LoadedSlot {
  std::uint16_t slot = 0;
  std::string node, key, tag;
  double rate = 0, key_rate = 0;
  double cpu_share = kUnknown, bytes_rate = kUnknown;
};

LoadedSlot read_loaded_slot(Members members) {
  LoadedSlot slot;
  std::uint64_t number = 0;
  members.read("slot", number);
  slot.slot = static_cast<std::uint16_t>(number % resp::kSlots);
  members.read("node", slot.node);
  members.read("rate", slot.rate);
  if (members.has("key")) members.read("key", slot.key);
  if (members.has("key_rate")) members.read("key_rate", slot.key_rate);
  if (members.has("tag")) members.read("tag", slot.tag);
  read_known(members, "cpu_share", slot.cpu_share);
  read_known(members, "bytes_rate", slot.bytes_rate);
  return slot;
}

}  // namespace

void read_cluster_load(const json::object& document, HotkeysView& view,
                       std::optional<Error>& error) {
  Members members(document, error);
  if (!members.has("cluster_load")) return;
  const auto* object = members.find("cluster_load", "an object", json::kind::object);
  if (object == nullptr) return;
  view.cluster = true;
  Members loads(object->get_object(), error);
  std::string judged_by, why_not;
  if (loads.has("judged_by")) loads.read("judged_by", judged_by);
  if (loads.has("why_not_cpu")) loads.read("why_not_cpu", why_not);
  view.slots_by_cpu = judged_by == "cpu";
  advice::ClusterLoad load;
  advice::CpuTime cpu;
  std::map<std::string, std::size_t> places;
  std::vector<LoadedNode> nodes;
  std::vector<LoadedSlot> slots;
  read_list(object->get_object(), "nodes", kNodesMax, read_loaded_node, nodes, error);
  read_list(object->get_object(), "slots", kSlotsShownMax, read_loaded_slot, slots, error);
  if (error) return;
  for (const LoadedNode& node : nodes) {
    NodeView& out = view.nodes.emplace_back();
    out.upstream = node.name;
    out.upstream_up = true;
    out.requests_rate = node.rate;
    out.cpu_cores = node.cpu;
    out.bytes_rate = node.bytes_rate;
    out.reads_rate = out.writes_rate = kUnknown;
    places[node.name] = load.nodes.size();
    load.nodes.push_back({node.name, known(node.rate)});
    cpu.nodes.push_back({known(node.cpu), node.commands_rate});
  }
  std::map<std::uint16_t, std::string> owners;
  for (LoadedSlot& slot : slots) {
    view.slots.push_back({.slot = slot.slot,
                          .node = slot.node,
                          .cpu_share = slot.cpu_share,
                          .bytes_rate = slot.bytes_rate,
                          .rate = slot.rate});
    owners[slot.slot] = slot.node;
    const auto place = places.find(slot.node);
    if (place == places.end()) continue;
    load.slots.push_back({slot.slot, known(slot.rate), place->second, std::move(slot.key),
                          known(slot.key_rate), std::move(slot.tag)});
    cpu.shares.push_back(slot.cpu_share);
  }
  for (KeyView& key : view.keys)
    if (const auto owner = owners.find(resp::key_slot(key.raw_name));
        owner != owners.end() && !key.name_truncated)
      key.node = owner->second;
  if (load.nodes.empty()) return;
  if (view.slots_by_cpu) {
    load = advice::in_cpu_time(std::move(load), cpu);
    view.slot_advice.emplace_back("judged by the servers' CPU time, of all clients");
  } else if (!why_not.empty()) {
    view.slot_advice.push_back("judged by the commands of this proxy: " + why_not);
  }
  for (const advice::SlotAdvice& each : advice::advise_slots(load))
    if (view.slot_advice.size() < kAdviceMax) view.slot_advice.push_back(each.text);
}

}  // namespace heatsink::app
