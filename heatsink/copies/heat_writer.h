// SPDX-License-Identifier: Apache-2.0
// Adds what the proxy counted in the last second to the history of what was hot.
#pragma once

#include <optional>
#include <span>

#include "heatsink/copies/client_heat.h"
#include "heatsink/copies/duration_histogram.h"
#include "heatsink/copies/load_window.h"
#include "heatsink/copies/sampled_sizes.h"
#include "heatsink/copies/server_cpu.h"
#include "heatsink/detect/detect.h"
#include "heatsink/heat/heat.h"
#include "heatsink/policy/key_display.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// The keeper's thread only; readers of the history may be in others. The arguments must outlive it.
class HeatWriter {
 public:
  // What was counted beside the accesses.
  struct Beside {
    LoadWindow::Span load{};
    std::optional<ServerCpu::Figure> cpu{};  // of the servers; nothing: not known
    // Of each worker's clients; their p50 and p99 are of the time since the last call.
    std::span<const DurationHistogram* const> latencies{};
    // Of each worker: replies that the accesses were counted without; empty: without none.
    std::span<const SampledSizes* const> reply_sizes{};
    std::span<const ClientCommands* const> clients{};  // of each worker; empty: not known
    ClientHeat::Name client_name{};
  };

  HeatWriter(const policy::KeyDisplay& shown, topology::ClusterDirectory& cluster,
             const topology::SlotCounts& slot_counts, heat::History& history)
      : shown_(shown), cluster_(cluster), slot_counts_(slot_counts), history_(history) {}

  // Call it about once a second. `counted`: of all keys and workers; one that was written before is
  // left out. `now`: until when the slots have been counted. About 50 us, in front of a cluster
  // 100 us.
  void write(const detect::Summary& counted, const Beside& beside, TimePoint now);
  // Any thread: of the samples of clients' commands.
  std::size_t client_bytes() const { return clients_.memory_bytes(); }

 private:
  class Sizes;

  double mean_reply_bytes(std::span<const SampledSizes* const> samples);

  const policy::KeyDisplay& shown_;
  topology::ClusterDirectory& cluster_;
  const topology::SlotCounts& slot_counts_;
  heat::History& history_;
  ClientHeat clients_;
  DurationHistogram::Counts before_{};
  SampledSizes::Sum sampled_before_{};
  double sampled_replies_ = 0, sampled_bytes_ = 0;  // of about the last ten calls
};

}  // namespace heatsink::copies
