// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/slots_seen.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "heatsink/relief/shared_state.h"

namespace heatsink::proxy {
namespace {

using report::SlotsReport;

constexpr MetricRow kNodeLoad{
    "heatsink_node_commands_per_second", MetricKind::kGauge,
    "Commands that this proxy sends to a node of the cluster, one for each key.", "node"};
constexpr MetricRow kImbalance{
    "heatsink_node_imbalance", MetricKind::kGauge,
    "Load of the busiest node of the cluster, as a multiple of the mean; 1: even, or no load. In "
    "commands that this proxy sends."};
constexpr MetricRow kNodeCpu{
    "heatsink_node_cpu_cores", MetricKind::kGauge,
    "CPU time of a node of the cluster, by all clients, in cores. Absent where the server does not "
    "count it by slot (CLUSTER SLOT-STATS).",
    "node"};
constexpr MetricRow kNodeBytes{
    "heatsink_node_throughput_bytes", MetricKind::kGauge,
    "Bytes per second that a node of the cluster receives and sends for its slots, "
    "by all clients. Absent where the server does not count them.",
    "node"};
constexpr MetricRow kCpuImbalance{"heatsink_node_cpu_imbalance", MetricKind::kGauge,
                                  "CPU time of the busiest node of the cluster, by all clients, as "
                                  "a multiple of the mean. Absent "
                                  "unless all nodes count it."};

// What reaches the server of a hot key.
double load_of(const detect::Verdict& verdict) {
  const detect::KeyCount& count = verdict.count;
  const std::uint64_t all = count.reads + count.writes;
  if (all == 0) return 0;
  const std::uint64_t local = std::min(count.hits, count.reads);
  return verdict.rate * static_cast<double>(all - local) / static_cast<double>(all);
}

struct KnownKeys {
  std::string busiest;
  double load = 0;
  std::string tag;  // of all of them
  std::size_t count = 0;
};

std::map<std::uint16_t, KnownKeys> keys_by_slot(const report::Report& report) {
  std::map<std::uint16_t, KnownKeys> out;
  if (report.redacted || report.dimension != detect::Dimension::kRequests) return out;
  for (const report::KeyReport& each : report.keys) {
    const detect::KeyCount& count = each.verdict.count;
    if (count.key_truncated) continue;
    KnownKeys& keys = out[resp::key_slot(count.key)];
    const std::string_view tag = resp::hash_tag(count.key);
    if (keys.count == 0)
      keys.tag = tag;
    else if (keys.tag != tag)
      keys.tag.clear();
    ++keys.count;
    if (const double load = load_of(each.verdict); keys.busiest.empty() || load > keys.load)
      keys = {count.key, load, keys.tag, keys.count};
  }
  return out;
}

using Places = std::map<topology::NodeIndex, std::size_t>;

Places add_nodes(SlotsReport& out, const topology::SlotMap& map, const topology::SlotUsage* usage,
                 const std::vector<std::string>& names) {
  Places places;
  out.nodes.reserve(map.shards.size());
  for (const topology::SlotMap::Shard& shard : map.shards) {
    places[shard.master] = out.nodes.size();
    SlotsReport::Node& node = out.nodes.emplace_back();
    node.name = shard.master < names.size() ? names[shard.master] : "";
    node.slots = shard.slots;
    if (usage == nullptr || !usage->nodes.contains(shard.master)) continue;
    const topology::NodeUsage& said = usage->nodes.at(shard.master);
    node.cpu = said.cpu;
    node.executing = said.executing;
    node.bytes_rate = said.bytes_rate;
    node.commands_rate = said.commands_rate;
  }
  return places;
}

// The busiest slots of each node, and the sums of the nodes' rates.
void add_slots(SlotsReport& out, const Places& places, const topology::SlotMap& map,
               const std::vector<float>& rates, const topology::SlotUsage* usage) {
  for (std::size_t i = 0; i < resp::kSlots; ++i) {
    const auto place = places.find(map.owners[i]);
    if (place == places.end()) continue;
    SlotsReport::Slot slot{.slot = static_cast<std::uint16_t>(i), .node = place->second};
    if (rates.size() == resp::kSlots) slot.load = rates[i];
    if (usage != nullptr) {
      slot.executing = usage->executing[i];
      slot.bytes_rate = usage->bytes_rate[i];
    }
    out.nodes[slot.node].load += slot.load;
    if (slot.load > 0 || slot.executing > 0) out.slots.push_back(std::move(slot));
  }
  std::ranges::stable_sort(out.slots, std::ranges::greater{}, [&out](const auto& slot) {
    if (!out.by_cpu) return slot.load;
    return slot.executing > 0 ? slot.executing : 0;
  });
  std::vector<std::size_t> listed(out.nodes.size(), 0);
  std::erase_if(out.slots, [&](const SlotsReport::Slot& each) {
    return ++listed[each.node] > kSlotsOfNodeMax;
  });
}

double imbalance(const SlotsReport& slots, double SlotsReport::Node::*of) {
  double sum = 0, most = 0;
  for (const SlotsReport::Node& node : slots.nodes) {
    sum += node.*of;
    most = std::max(most, node.*of);
  }
  return sum > 0 ? most * static_cast<double>(slots.nodes.size()) / sum : 1;
}

}  // namespace

SlotsReport slots_seen(const topology::SlotMap& map, const std::vector<float>& rates,
                       const topology::SlotUsage* usage, const std::vector<std::string>& names,
                       const report::Report& report) {
  SlotsReport out;
  out.why_not = topology::why_not_counted(usage, map, names);
  out.by_cpu = out.why_not.empty();
  add_slots(out, add_nodes(out, map, usage, names), map, rates, usage);
  const std::map<std::uint16_t, KnownKeys> known = keys_by_slot(report);
  for (SlotsReport::Slot& each : out.slots) {
    const auto keys = known.find(each.slot);
    if (keys == known.end()) continue;
    each.key = keys->second.busiest;
    each.key_load = keys->second.load;
    if (keys->second.count > 1) each.tag = keys->second.tag;
  }
  return out;
}

std::optional<SlotsReport> slots_seen(SharedState& shared, const report::Report& report) {
  const std::shared_ptr<const topology::SlotMap> map = shared.cluster.map();
  if (map == nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shared.cluster.nodes(); ++i)
    names.push_back(shared.cluster.node(static_cast<topology::NodeIndex>(i)).url().address.text());
  const TimePoint now = BootClock::now();
  const std::shared_ptr<const topology::SlotUsage> usage = shared.slot_usage.look(now);
  SlotsReport out = slots_seen(*map, shared.slot_counts.rates(now), usage.get(), names, report);
  if (shared.held()->options.slot_stats_interval == Nanos(0))
    out.why_not = "upstream.slot-stats-interval is 0, so the nodes are not asked";
  return out;
}

void append_slot_samples(MetricSamples& samples, const report::Report& report) {
  if (!report.slots || report.slots->nodes.empty()) return;
  const SlotsReport& slots = *report.slots;
  for (const SlotsReport::Node& node : slots.nodes)
    samples.push_back({&kNodeLoad, node.load, {{"node", node.name}}});
  samples.push_back({&kImbalance, imbalance(slots, &SlotsReport::Node::load)});
  for (const SlotsReport::Node& node : slots.nodes)
    if (node.cpu >= 0) samples.push_back({&kNodeCpu, node.cpu, {{"node", node.name}}});
  for (const SlotsReport::Node& node : slots.nodes)
    if (node.bytes_rate >= 0)
      samples.push_back({&kNodeBytes, node.bytes_rate, {{"node", node.name}}});
  if (slots.by_cpu) samples.push_back({&kCpuImbalance, imbalance(slots, &SlotsReport::Node::cpu)});
}

MetricRows slot_metric_rows() {
  return {&kNodeLoad, &kImbalance, &kNodeCpu, &kNodeBytes, &kCpuImbalance};
}

}  // namespace heatsink::proxy
