// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/replica_metrics.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr MetricRow kReplicaFresh{
    "heatsink_replica_fresh", MetricKind::kGauge,
    "1 while the replica is proven to be within replica-lag, the shortest of all rules; else 0.",
    "replica"};
constexpr MetricRow kReplicaAge{
    "heatsink_replica_age_seconds", MetricKind::kGauge,
    "How old the data of the replica may be now, as its last proof says. Absent while nothing is "
    "proven.",
    "replica"};
constexpr MetricRow kReplicaSent{"heatsink_replica_sent_total", MetricKind::kCounter,
                                 "Reads sent to the replica (reads of a rule).", "replica"};

}  // namespace

std::vector<report::ReplicaReport> replicas_seen(const topology::ReplicaDirectory& directory,
                                                 Nanos lag, TimePoint confirmed_at, TimePoint now) {
  std::vector<report::ReplicaReport> out;
  const std::shared_ptr<const topology::ReplicaMap> map = directory.map();
  if (map == nullptr) return out;
  for (const topology::ReplicaMap::Shard& shard : map->shards) {
    for (const std::shared_ptr<topology::Replica>& replica : shard.replicas) {
      report::ReplicaReport each;
      each.address = replica->at.text();
      each.zone = replica->zone();
      each.is_near = replica->is_near();
      each.sent = replica->reads.load(std::memory_order_relaxed);
      const TimePoint proven = std::min(replica->no_older_than(), confirmed_at);
      if (proven != TimePoint::min()) each.age = now - proven;
      each.is_fresh = each.age && *each.age <= lag;
      const topology::ReplicaFault fault = replica->fault();
      if (!each.is_fresh)
        each.fault = topology::to_string(
            fault == topology::ReplicaFault::kNone ? topology::ReplicaFault::kBehind : fault);
      out.push_back(std::move(each));
    }
  }
  return out;
}

void append_replica_samples(MetricSamples& samples,
                            const std::vector<report::ReplicaReport>& replicas) {
  for (const report::ReplicaReport& each : replicas) {
    const MetricLabels labels{{"replica", each.address}};
    samples.push_back({&kReplicaFresh, each.is_fresh ? 1.0 : 0.0, labels});
    if (each.age)
      samples.push_back({&kReplicaAge, std::chrono::duration<double>(*each.age).count(), labels});
    samples.push_back({&kReplicaSent, static_cast<double>(each.sent), labels});
  }
}

MetricRows replica_rows() { return {&kReplicaFresh, &kReplicaAge, &kReplicaSent}; }

}  // namespace heatsink::proxy
