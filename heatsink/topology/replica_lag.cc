// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replica_lag.h"

#include <algorithm>

namespace heatsink::topology {

const char* to_string(ReplicaFault fault) {
  switch (fault) {
    case ReplicaFault::kSilent:
      return "silent";
    case ReplicaFault::kNotReplica:
      return "not-replica";
    case ReplicaFault::kLinkDown:
      return "link-down";
    case ReplicaFault::kSyncing:
      return "syncing";
    case ReplicaFault::kOtherHistory:
      return "other-history";
    case ReplicaFault::kBehind:
      return "behind";
    case ReplicaFault::kNone:
      return "none";
  }
  return "";
}

bool MasterOffsets::said(std::string_view history, std::int64_t offset, TimePoint asked_at) {
  const bool went_back = !samples_.empty() && offset < samples_.back().offset;
  const bool is_other = history != history_ || went_back;
  if (is_other) {
    samples_.clear();
    history_ = history;
  }
  if (!samples_.empty() && asked_at < samples_.back().asked_at) return is_other;
  if (!samples_.empty() && samples_.back().offset == offset) {
    // The later time says more with the same offset.
    samples_.back().asked_at = asked_at;
    return is_other;
  }
  if (samples_.size() == kSamplesMax) samples_.pop_front();
  samples_.push_back({offset, asked_at});
  return is_other;
}

void MasterOffsets::forget() {
  samples_.clear();
  history_.clear();
}

ReplicaFault MasterOffsets::fault_of(const ReplicationInfo& info) const {
  if (info.role != Role::kReplica) return ReplicaFault::kNotReplica;
  if (info.is_syncing) return ReplicaFault::kSyncing;
  if (!info.is_linked) return ReplicaFault::kLinkDown;
  if (samples_.empty() || info.history != history_) return ReplicaFault::kOtherHistory;
  return ReplicaFault::kNone;
}

void MasterOffsets::judge(const ReplicationInfo& info, std::string_view process, TimePoint asked_at,
                          ReplicaProof& proof) const {
  if (asked_at < proof.heard_at) return;
  if (process != proof.process) {
    proof.no_older_than = TimePoint::min();
    proof.process_since = asked_at;
  }
  proof.process = process;
  proof.heard_at = asked_at;
  // Without its run_id a restart could not be seen.
  proof.fault = process.empty() ? ReplicaFault::kNotReplica : fault_of(info);
  proof.follows.clear();
  if (proof.fault != ReplicaFault::kNone) {
    proof.no_older_than = TimePoint::min();
    return;
  }
  proof.follows = info.follows;
  const auto reached = std::find_if(samples_.rbegin(), samples_.rend(), [&](const Sample& sample) {
    return sample.offset <= info.offset;
  });
  if (reached == samples_.rend()) {
    proof.fault = ReplicaFault::kBehind;
    return;
  }
  proof.no_older_than = std::max(proof.no_older_than, reached->asked_at);
}

void MasterOffsets::failed(ReplicaProof& proof) {
  proof.fault = ReplicaFault::kSilent;
  proof.no_older_than = TimePoint::min();
  proof.follows.clear();
}

}  // namespace heatsink::topology
