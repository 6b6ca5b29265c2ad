// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_stats_watch.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/redis/info_text.h"

namespace heatsink::topology {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
// A slot that was last counted before that has no rate of the load now.
constexpr int kPausesMax = 3;

// "used_cpu_user" and "used_cpu_sys"; nothing unless all are there.
std::optional<double> sum_in(const std::string& info, std::initializer_list<const char*> names) {
  double sum = 0;
  for (const char* name : names) {
    const std::optional<double> value = redis::info_number(info, name);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Nanos SlotStatsWatch::pause_to_next() {
  return std::chrono::duration_cast<Nanos>(pause_ * (0.75 + 0.25 * random_.unit()));
}

void SlotStatsWatch::forget() {
  if (nodes_.empty()) return;
  nodes_.clear();
  map_.reset();
  slots_.reset();
  board_.publish(nullptr);
}

void SlotStatsWatch::tick(TimePoint now, const std::shared_ptr<const SlotMap>& map, Nanos pause) {
  if (map == nullptr || pause == Nanos(0) || !board_.is_wanted(now)) return forget();
  pause_ = pause;
  follow(map);
  for (auto& [index, node] : nodes_)
    if (!node.asks && now >= node.due_at) ask(index, node);
}

// A node of a new map begins again with the parts that it has now.
void SlotStatsWatch::follow(const std::shared_ptr<const SlotMap>& map) {
  if (map == map_) return;
  map_ = map;
  std::set<NodeIndex> masters;
  for (const SlotMap::Shard& shard : map->shards) masters.insert(shard.master);
  std::erase_if(nodes_, [&masters](const auto& each) { return !masters.contains(each.first); });
  for (const NodeIndex master : masters) nodes_[master].parts.clear();
  for (std::size_t slot = 0; slot < map->owners.size(); ++slot) {
    const auto node = nodes_.find(map->owners[slot]);
    if (node == nodes_.end()) continue;
    std::vector<std::uint16_t>& parts = node->second.parts;
    const auto first = static_cast<std::uint16_t>(slot / kPartSlots * kPartSlots);
    if (parts.empty() || parts.back() != first) parts.push_back(first);
  }
  for (auto& [index, node] : nodes_) node.next_part = 0;
}

void SlotStatsWatch::ask(NodeIndex index, Node& node) {
  node.asks = true;
  if (node.next_part >= node.parts.size()) return asker_.ask_totals(index);
  const std::uint16_t first = node.parts[node.next_part];
  asker_.ask_stats(index, first, static_cast<std::uint16_t>(first + kPartSlots - 1));
}

void SlotStatsWatch::stats(NodeIndex index, const Result<resp::Value>& reply, TimePoint now) {
  const auto found = nodes_.find(index);
  if (found == nodes_.end()) return;
  Node& node = found->second;
  node.asks = false;
  if (!reply.ok())
    return give_up(node, NodeUsage::State::kSilent, reply.error().message, now + pause_to_next());
  if (reply->is_error()) return refused(node, reply->text, now);
  const std::optional<SlotStats> stats = parse_slot_stats(*reply);
  if (!stats)
    return give_up(node, NodeUsage::State::kSilent, "the reply is malformed",
                   now + pause_to_next());
  if (!stats->slots.empty() && !stats->has_work)
    return give_up(node, NodeUsage::State::kOff, "", now + kOffRetry);
  if (node.usage.state != NodeUsage::State::kCounted) node.usage.state = NodeUsage::State::kAwaited;
  take(index, *stats, now);
  ++node.next_part;
  ask(index, node);
}

void SlotStatsWatch::refused(Node& node, const std::string& error, TimePoint now) {
  if (resp::is_unknown_command(error))
    return give_up(node, NodeUsage::State::kUnsupported, error, now + kRetry);
  if (!error.starts_with("NOPERM"))
    return give_up(node, NodeUsage::State::kSilent, error, now + pause_to_next());
  const bool is_said = std::ranges::any_of(nodes_, [](const auto& each) {
    return each.second.usage.state == NodeUsage::State::kForbidden;
  });
  give_up(node, NodeUsage::State::kForbidden, error, now + kRetry);
  if (!is_said)
    log(LogLevel::kInfo,
        "the proxy's user may not run CLUSTER SLOT-STATS or INFO: "
        "the load of slots is what this proxy sends, without other clients; grant it: "
        "+cluster|slot-stats +info");
}

void SlotStatsWatch::give_up(Node& node, NodeUsage::State state, std::string reason,
                             TimePoint next) {
  node.usage = {.state = state, .reason = std::move(reason)};
  node.next_part = 0;
  node.rounds = 0;
  node.before.reset();
  node.due_at = next;
  publish();
}

void SlotStatsWatch::take(NodeIndex index, const SlotStats& stats, TimePoint now) {
  if (slots_ == nullptr) slots_ = std::make_unique<std::array<Counted, resp::kSlots>>();
  nodes_[index].has_bytes = stats.has_bytes;
  for (const SlotCounters& each : stats.slots) {
    Counted& slot = (*slots_)[each.slot];
    // Another master's counters say nothing, and counters that went backwards were reset.
    const bool has_rate = slot.node == index && now > slot.at &&
                          now - slot.at <= kPausesMax * std::max(pause_, kFirstPause) &&
                          each.cpu_us >= slot.cpu_us && each.bytes >= slot.bytes_all;
    const double time_s = seconds(now - slot.at);
    slot.executing =
        has_rate ? static_cast<float>((each.cpu_us - slot.cpu_us) * 1e-6 / time_s) : kUnknown;
    slot.bytes = has_rate && stats.has_bytes
                     ? static_cast<float>((each.bytes - slot.bytes_all) / time_s)
                     : kUnknown;
    slot.node = index;
    slot.at = now;
    slot.cpu_us = each.cpu_us;
    slot.bytes_all = each.bytes;
  }
}

void SlotStatsWatch::totals(NodeIndex index, const Result<resp::Value>& reply, TimePoint now) {
  const auto found = nodes_.find(index);
  if (found == nodes_.end()) return;
  Node& node = found->second;
  node.asks = false;
  if (!reply.ok())
    return give_up(node, NodeUsage::State::kSilent, reply.error().message, now + pause_to_next());
  if (reply->is_error()) return refused(node, reply->text, now);
  const auto cpu_s = sum_in(reply->text, {"used_cpu_user", "used_cpu_sys"});
  const auto commands = sum_in(reply->text, {"total_commands_processed"});
  if (!cpu_s || !commands)
    return give_up(node, NodeUsage::State::kSilent, "INFO lacks what is needed",
                   now + pause_to_next());
  const std::optional<Totals> before = std::exchange(node.before, Totals{*cpu_s, *commands, now});
  node.usage.cpu = node.usage.commands_rate = kUnknown;
  // Another process counts from 0 again: its rates are known in the next round.
  if (!before || *cpu_s < before->cpu_s || *commands < before->commands || now <= before->at)
    node.rounds = 0;
  else {
    node.usage.cpu = (*cpu_s - before->cpu_s) / seconds(now - before->at);
    node.usage.commands_rate = (*commands - before->commands) / seconds(now - before->at);
  }
  end_round(index, node, now);
}

void SlotStatsWatch::end_round(NodeIndex index, Node& node, TimePoint now) {
  ++node.rounds;
  node.next_part = 0;
  node.due_at = now + (node.rounds == 1 ? std::min(kFirstPause, pause_) : pause_to_next());
  if (node.rounds < 2 || slots_ == nullptr) {
    node.usage = {};
    return publish();
  }
  double executing = 0, bytes = 0;
  for (std::size_t i = 0; i < slots_->size(); ++i) {
    const Counted& slot = (*slots_)[i];
    if (slot.node != index || map_->owners[i] != index || !(slot.executing >= 0)) continue;
    executing += slot.executing;
    bytes += slot.bytes;
  }
  node.usage.state = NodeUsage::State::kCounted;
  node.usage.executing = executing;
  node.usage.bytes_rate = node.has_bytes ? bytes : kUnknown;
  publish();
}

void SlotStatsWatch::publish() const {
  auto out = std::make_shared<SlotUsage>();
  for (const auto& [index, node] : nodes_) out->nodes.emplace(index, node.usage);
  out->executing.resize(resp::kSlots, kUnknown);
  out->bytes_rate.resize(resp::kSlots, kUnknown);
  for (std::size_t i = 0; slots_ != nullptr && i < slots_->size(); ++i) {
    const Counted& slot = (*slots_)[i];
    if (slot.node == kNoNode || slot.node != map_->owners[i]) continue;
    const auto node = nodes_.find(slot.node);
    if (node == nodes_.end() || node->second.usage.state != NodeUsage::State::kCounted) continue;
    out->executing[i] = slot.executing;
    out->bytes_rate[i] = slot.bytes;
  }
  board_.publish(std::move(out));
}

}  // namespace heatsink::topology
