// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model_bus.h"

#include <algorithm>

#include "tests/simulation/model_node.h"

namespace heatsink::simulation {

ModelNode* ModelBus::at(ModelPort port) const {
  const auto found = members_.find(port);
  return found == members_.end() ? nullptr : found->second.node;
}

// In order for each pair of nodes: the bus has one connection for each.
void ModelBus::send(ModelPort to, const ModelMessage& message) {
  if (network_.are_apart(node_name(message.from), node_name(to))) return;
  const NetworkOptions& options = network_.options();
  TimePoint& last = last_arrival_[{message.from, to}];
  const Nanos delay = scheduler().between(options.latency_min, options.latency_max) +
                      scheduler().between(Nanos(0), delay_max_);
  last = std::max(last, scheduler().now() + delay);
  scheduler().call_at(last, [this, to, message] { arrive(to, message); });
}

void ModelBus::arrive(ModelPort to, const ModelMessage& message) {
  const auto found = members_.find(to);
  if (found == members_.end()) return;
  const Member& member = found->second;
  TimePoint& held_until = held_until_[to];
  if (member.process->is_stopped() && held_until <= member.process->stopped_until())
    held_until = member.process->stopped_until() + scheduler().between(Nanos(1), kAwake);
  if (scheduler().now() < held_until)
    return scheduler().call_at(held_until, [this, to, message] { arrive(to, message); });
  member.process->post([node = member.node, message] { node->handle(message); });
}

void ModelBus::claim(std::uint16_t slot, ModelPort port, std::uint64_t epoch, Claim how) {
  Owner& owner = owners_[slot];
  if (epoch < owner.epoch) return;
  owner = {port, epoch, how};
  if (on_claim_) on_claim_(port);
}

void ModelBus::set_behind(ModelPort port, bool is_behind) {
  if (is_behind) {
    behind_.insert(port);
  } else {
    behind_.erase(port);
  }
}

void ModelBus::note_stale(std::string_view key, std::string value) {
  stale_[{std::string(key), std::move(value)}].push_back(network_.scheduler().now());
}

bool ModelBus::was_stale(const std::string& key, const std::string& value, TimePoint from,
                         TimePoint to) const {
  const auto found = stale_.find({key, value});
  if (found == stale_.end()) return false;
  const auto at = std::lower_bound(found->second.begin(), found->second.end(), from);
  return at != found->second.end() && *at <= to;
}

bool ModelBus::showed_another(const std::string& key, const std::string& value, TimePoint from,
                              TimePoint to) const {
  for (auto each = stale_.lower_bound({key, ""}); each != stale_.end(); ++each) {
    const auto& [its_key, its_value] = each->first;
    if (its_key != key) break;
    if (its_value.empty() || its_value == value) continue;
    const auto at = std::lower_bound(each->second.begin(), each->second.end(), from);
    if (at != each->second.end() && *at <= to) return true;
  }
  return false;
}

void ModelBus::note_stale_slot(std::uint16_t slot, std::map<std::string, std::string> held) {
  if (owners_[slot].how == Claim::kTold) return;
  stale_slots_[slot].push_back({network_.scheduler().now(), std::move(held)});
}

TimePoint ModelBus::last_stale(const std::string& key, const std::string& value,
                               TimePoint to) const {
  const auto answers = stale_slots_.find(resp::key_slot(key));
  if (answers == stale_slots_.end()) return {};
  for (auto answer = answers->second.rbegin(); answer != answers->second.rend(); ++answer) {
    if (answer->at > to) continue;
    const auto found = answer->held.find(key);
    if ((found == answer->held.end() ? "" : found->second) == value) return answer->at;
  }
  return {};
}

}  // namespace heatsink::simulation
