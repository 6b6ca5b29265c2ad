// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as INFO replication: only a linked replica of the right history proves its age.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heatsink/topology/replica_lag.h"
#include "heatsink/topology/replication_info.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using heatsink::TimePoint;
  namespace topology = heatsink::topology;
  const auto info =
      topology::parse_replication(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!info) return 0;
  if (info->replicas.size() > topology::ReplicationInfo::kReplicasMax) std::abort();
  topology::MasterOffsets master;
  const TimePoint now{heatsink::Millis(1000)};
  master.said("history", 7, now);
  topology::ReplicaProof proof;
  master.judge(*info, "process", now, proof);
  const bool is_proven = proof.no_older_than != TimePoint::min();
  const bool may_be = info->role == topology::Role::kReplica && info->is_linked &&
                      !info->is_syncing && info->history == "history" && info->offset >= 7;
  if (is_proven != may_be) std::abort();
  return 0;
}
