// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/epoch_quorum.h"

#include <algorithm>

namespace heatsink::topology {

void EpochQuorum::follow(const std::vector<NodeIndex>& masters, std::uint64_t map_epoch,
                         bool owners_changed) {
  std::map<NodeIndex, Heard> before = std::move(masters_);
  masters_.clear();
  for (const NodeIndex master : masters) masters_[master] = before[master];
  // Otherwise heard() raises highest_, because that is when the time of the election begins.
  if (owners_changed || accepted_ == 0) accepted_ = std::max(accepted_, map_epoch);
  highest_ = std::max(highest_, accepted_);
  count();
}

bool EpochQuorum::heard(NodeIndex master, std::uint64_t epoch, TimePoint asked_at, TimePoint now) {
  const auto found = masters_.find(master);
  if (found == masters_.end()) return false;
  if (epoch > highest_) {
    highest_ = epoch;
    raised_at_ = now;
  }
  accept(now);
  Heard& heard = found->second;
  heard.epoch = epoch;
  heard.asked_at = asked_at;
  if (epoch <= accepted_) heard.accepted_at = std::max(heard.accepted_at, asked_at);
  count();
  return epoch > accepted_;
}

void EpochQuorum::accept(TimePoint now) {
  if (accepted_ >= highest_) return;
  const Nanos within = std::max(2 * node_timeout_, kAcceptedAfterMin);
  if (raised_at_ != TimePoint{} && now - raised_at_ >= within) accepted_ = highest_;
}

// The time that a majority reaches: the k-th latest of k = n / 2 + 1.
void EpochQuorum::count() {
  if (masters_.empty()) return;
  std::vector<TimePoint> times;
  times.reserve(masters_.size());
  for (const auto& [master, heard] : masters_) times.push_back(heard.accepted_at);
  std::ranges::sort(times, std::ranges::greater());
  agreed_at_ = std::max(agreed_at_, times[times.size() / 2]);
}

}  // namespace heatsink::topology
