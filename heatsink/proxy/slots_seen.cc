// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/slots_seen.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "heatsink/proxy/shared_state.h"

namespace heatsink::proxy {
namespace {

using report::SlotsReport;

constexpr MetricRow kNodeLoad{
    "heatsink_node_commands_per_second", MetricKind::kGauge,
    "Commands that this proxy sends to a node of the cluster, one for each key.", "node"};
constexpr MetricRow kImbalance{
    "heatsink_node_imbalance", MetricKind::kGauge,
    "Load of the busiest node of the cluster, as a multiple of the mean; 1: even, or no load."};

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

}  // namespace

SlotsReport slots_seen(const topology::SlotMap& map, const std::vector<float>& rates,
                       const std::vector<std::string>& names, const report::Report& report) {
  SlotsReport out;
  std::map<topology::NodeIndex, std::size_t> places;
  out.nodes.reserve(map.shards.size());
  for (const topology::SlotMap::Shard& shard : map.shards) {
    places[shard.master] = out.nodes.size();
    out.nodes.push_back({shard.master < names.size() ? names[shard.master] : "", shard.slots, 0});
  }
  if (rates.size() != resp::kSlots) return out;
  const std::map<std::uint16_t, KnownKeys> known = keys_by_slot(report);
  for (std::size_t slot = 0; slot < rates.size(); ++slot) {
    const auto place = places.find(map.owner(static_cast<std::uint16_t>(slot)));
    if (place == places.end() || rates[slot] <= 0) continue;
    out.nodes[place->second].load += rates[slot];
    out.slots.push_back({static_cast<std::uint16_t>(slot), place->second, rates[slot]});
  }
  std::stable_sort(out.slots.begin(), out.slots.end(),
                   [](const auto& a, const auto& b) { return a.load > b.load; });
  std::vector<std::size_t> listed(out.nodes.size(), 0);
  std::erase_if(out.slots, [&](const SlotsReport::Slot& each) {
    return ++listed[each.node] > kSlotsOfNodeMax;
  });
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
  return slots_seen(*map, shared.slot_counts.rates(BootClock::now()), names, report);
}

void append_slot_samples(MetricSamples& samples, const report::Report& report) {
  if (!report.slots || report.slots->nodes.empty()) return;
  double sum = 0, most = 0;
  for (const SlotsReport::Node& node : report.slots->nodes) {
    samples.push_back({&kNodeLoad, node.load, {{"node", node.name}}});
    sum += node.load;
    most = std::max(most, node.load);
  }
  const double mean = sum / static_cast<double>(report.slots->nodes.size());
  samples.push_back({&kImbalance, mean > 0 ? most / mean : 1});
}

MetricRows slot_metric_rows() { return {&kNodeLoad, &kImbalance}; }

}  // namespace heatsink::proxy
