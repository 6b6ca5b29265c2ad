// SPDX-License-Identifier: Apache-2.0
// Holds what people see of a node and all its keys together, as plain values: the API writes it,
// and top reads it back. key_fields.h has the members' names in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/units.h"
#include "heatsink/report/key_view.h"
#include "heatsink/report/node_report.h"

namespace heatsink::report {

// Rates are per second; ratios 0 .. 1; kUnknown (NaN): not known.
struct NodeView {
  std::string upstream;
  bool upstream_up = false;
  std::string coherence;  // "up", or why no local copies are served
  double requests_rate = 0, reads_rate = 0, writes_rate = 0, hits_rate = 0, misses_rate = 0;
  double hit_ratio = 0;
  // Commands of clients, and those that the servers got: the proxy's own are among them.
  double commands_rate = 0, server_commands_rate = 0, own_commands_rate = 0;
  double offload = 0;  // load taken off: the part that the servers did not get; or < 0
  // The offload of the servers' CPU time, estimated. kUnknown: cpu_unknown says why; "" there, too:
  // an answer of an earlier version.
  double cpu_offload = kUnknown;
  double servers_cpu = kUnknown;       // cores that all servers use, as they say
  double cpu_spared_cores = kUnknown;  // an estimate
  std::string cpu_unknown{};
  double cpu_cores = kUnknown;    // of one node's process, by all clients, as the server says
  double bytes_rate = kUnknown;   // the same
  double unseen_rate = kUnknown;  // Report::unseen_rate
  bool may_be_pause = false;      // Observation::may_be_pause
  std::uint64_t clients = 0, hot_keys = 0, write_hot_keys = 0, cached_entries = 0;
  Bytes cached_bytes;
  std::uint64_t stale_confirmed = 0;  // copies proven stale: there should be none
  std::string dimension{};            // of the thresholds for all keys
  double hot = kUnknown, warm = kUnknown;
  std::optional<std::uint32_t> replicas{};  // for a single node
  std::uint64_t rules = 0;
  std::uint64_t workers = 0;     // of the proxy; 0: unknown
  bool redacted = false;         // names are hashes
  bool sampled = false;          // Report::sampled
  double absent_max = kUnknown;  // highest possible accesses per second of an unlisted key
  bool is_watched = true;        // a source observes it
  std::string trouble{};         // why it is not up; or ""
};

NodeView node_view(const Report& report);

}  // namespace heatsink::report
