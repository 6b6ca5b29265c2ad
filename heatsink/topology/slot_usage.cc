// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_usage.h"

#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/topology/slot_stats.h"

namespace heatsink::topology {
namespace {

std::string sentence(const std::string& node, const NodeUsage& usage) {
  switch (usage.state) {
    case NodeUsage::State::kCounted:
      return "";
    case NodeUsage::State::kAwaited:
      return "node " + node +
             " has been asked for its CPU time by slot: look again in some seconds";
    case NodeUsage::State::kSilent:
      return "node " + node + " did not answer CLUSTER SLOT-STATS: " + printable(usage.reason);
    case NodeUsage::State::kOff:
      return "node " + node + " counts no CPU time by slot; on each node this turns it on: " +
             std::string(kTurnSlotStatsOn);
    case NodeUsage::State::kUnsupported:
      return "node " + node +
             " does not have CLUSTER SLOT-STATS (Valkey has it since 8.0, Redis since 8.2)";
    case NodeUsage::State::kForbidden:
      return "the proxy's user may not run CLUSTER SLOT-STATS or INFO on node " + node +
             ": grant +cluster|slot-stats +info";
  }
  return "";
}

}  // namespace

std::shared_ptr<const SlotUsage> SlotUsageBoard::look(TimePoint now) {
  looked_at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  return usage_;
}

bool SlotUsageBoard::is_wanted(TimePoint now) const {
  const std::int64_t looked_at = looked_at_.load(std::memory_order_relaxed);
  return looked_at != 0 && now.time_since_epoch().count() - looked_at < kLook.count();
}

void SlotUsageBoard::publish(std::shared_ptr<const SlotUsage> usage) {
  const std::lock_guard lock(mutex_);
  usage_ = std::move(usage);
}

std::string why_not_counted(const SlotUsage* usage, const SlotMap& map,
                            const std::vector<std::string>& names) {
  for (const SlotMap::Shard& shard : map.shards) {
    const std::string name = shard.master < names.size() ? names[shard.master] : "";
    if (usage == nullptr) return sentence(name, {});
    const auto node = usage->nodes.find(shard.master);
    const NodeUsage said = node == usage->nodes.end() ? NodeUsage() : node->second;
    if (std::string why = sentence(name, said); !why.empty()) return why;
  }
  return "";
}

}  // namespace heatsink::topology
