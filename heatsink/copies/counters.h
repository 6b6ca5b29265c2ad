// SPDX-License-Identifier: Apache-2.0
// The counts of the workers and the keeper, one row per metric.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/metric.h"

namespace heatsink::copies {

enum class Count : std::uint8_t {
  kClientsAccepted,
  kClientsRefused,
  kDescriptorsFull,
  kAcceptsPaused,
  kClientsTooFast,
  kNetworkTooFast,
  kHandshakesFull,
  kHandshakes,
  kHandshakesFailed,
  kClientsMoved,
  kClientsCutOff,
  kClientsShed,
  kClientsOutOfMemory,
  kClientsCutByDrain,
  kClientsDrained,
  kClientsHandedOver,
  kClientsTakenOver,
  kCommands,
  kClientReads,
  kClientTurns,
  kAccessHits,
  kAccessMisses,
  kAccessWrites,
  kLocalHits,
  kJoinedFills,
  kRefusedNoCopy,
  kRefusedGeneration,
  kRefusedDeadline,
  kRefusedUnproven,
  kRefusedFence,
  kRefusedWriteInFlight,
  kRefusedSessionFence,
  kRefusedRights,
  kSeldomRead,
  kWrittenEarly,
  kTooBig,
  kNoRoom,
  kEvictedForEntries,
  kEvictedForBytes,
  kRefusalsHeld,
  kForwardedShared,
  kForwardedPrivate,
  kServerCommands,
  kOwnCommands,
  kUnservedCommands,
  kUpstreamWrites,
  kReissued,
  kRedirects,
  kScattered,
  kSpreadHits,
  kSpreadFills,
  kSpreadKeyReads,
  kSpreadLate,
  kSpreadTombstones,
  kSpreadMissed,
  kSpreadParts,
  kReplicaReads,
  kReplicaReadsRepeated,
  kReplicaNone,
  kReplicaSilent,
  kReplicaLinkDown,
  kReplicaSyncing,
  kReplicaOtherHistory,
  kReplicaBehind,
  kReplicaConnecting,
  kReplicaRefusing,
  kReplicaSlot,
  kReplicaOwnWrite,
  kGathered,
  kGatheredAway,
  kUpstreamConnects,
  kUpstreamLost,
  kUpstreamErrors,
  kServerAwaited,
  kProtocolErrors,
  kFills,
  kFillsSpoiled,
  kFillsFailed,
  kRefreshes,
  kRefreshesFailed,
  kRefreshesGivenUp,
  kOutageHits,
  kInvalidations,
  kFlushes,
  kTrackerLost,
  kWaitsEnded,
  kPutBack,
  kNotPutBack,
  kBarriers,
  kProofsAwaited,
  kProofsRenewed,
  kBarrierCommands,
  kBarrierCommandsLate,
  kAudited,
  kAuditsSuspected,
  kAuditsStale,
  kAuditsFailed,
  kAuditsDroppedFull,
  kAuditsDroppedDown,
  kPromotions,
  kDemotions,
  kVerdictMessages,
  kNearKept,
  kNearEnded,
  kNearEndedAtOnce,
  kCount,
};

// One object per thread: only its owner adds, any thread may read.
class Counters {
 public:
  void add(Count count, std::uint64_t n = 1) noexcept {
    std::atomic<std::uint64_t>& cell = cells_[static_cast<std::size_t>(count)];
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t read(Count count) const noexcept {
    return cells_[static_cast<std::size_t>(count)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Count::kCount)> cells_{};
};

// Appends a sample per row; sum(count) returns its value.
template <class Sum>
void append_samples(MetricSamples& samples, Sum sum);

struct CountRow {
  Count count;
  MetricRow metric;
  const char* label = "";
  const char* label_value = "";
};
const std::array<CountRow, static_cast<std::size_t>(Count::kCount)>& count_rows();

template <class Sum>
void append_samples(MetricSamples& samples, Sum sum) {
  for (const CountRow& row : count_rows()) {
    samples.push_back({&row.metric, static_cast<double>(sum(row.count))});
    if (*row.label != '\0') samples.back().labels = {{row.label, row.label_value}};
  }
}

}  // namespace heatsink::copies
