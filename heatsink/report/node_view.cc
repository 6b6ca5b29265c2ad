// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/node_view.h"

#include "heatsink/base/printable.h"

namespace heatsink::report {
namespace {

void set_traffic(const Report& report, NodeView& node) {
  node.requests_rate = finite_or_unknown(report.requests_rate);
  node.reads_rate = finite_or_unknown(report.reads_rate);
  node.writes_rate = finite_or_unknown(report.writes_rate);
  node.hits_rate = finite_or_unknown(report.hits_rate);
  node.misses_rate = finite_or_unknown(report.misses_rate);
  node.hit_ratio = finite_or_unknown(report.hit_ratio);
  node.offload = finite_or_unknown(report.offload);
  node.commands_rate = finite_or_unknown(report.commands_rate);
  node.server_commands_rate = finite_or_unknown(report.server_commands_rate);
  node.own_commands_rate = finite_or_unknown(report.own_commands_rate);
  node.unseen_rate = report.unseen_rate ? finite_or_unknown(*report.unseen_rate) : kUnknown;
}

void set_server_cpu(const Report& report, NodeView& node) {
  node.cpu_unknown = one_line(report.server_cpu_unknown, detect::kKeyBytesMax);
  if (!report.server_cpu) return;
  node.servers_cpu = finite_or_unknown(report.server_cpu->cores);
  node.cpu_spared_cores = finite_or_unknown(report.server_cpu->spared_cores);
  node.cpu_offload = finite_or_unknown(report.server_cpu->offload);
}

}  // namespace

NodeView node_view(const Report& report) {
  NodeView node;
  node.upstream = printable(report.upstream);
  node.upstream_up = report.upstream_up;
  node.coherence = printable(report.coherence);
  set_traffic(report, node);
  set_server_cpu(report, node);
  node.dimension = detect::to_string(report.dimension);
  node.hot = finite_or_unknown(report.hot);
  node.warm = finite_or_unknown(report.warm);
  node.absent_max = report.absent_max ? finite_or_unknown(*report.absent_max) : kUnknown;
  node.rules = report.rules;
  node.workers = report.workers;
  node.redacted = report.redacted;
  node.sampled = report.sampled;
  node.clients = report.clients;
  node.hot_keys = report.hot_keys;
  node.write_hot_keys = report.write_hot_keys;
  node.cached_entries = report.cached_entries;
  node.cached_bytes = Bytes{report.cached_bytes};
  node.stale_confirmed = report.stale_confirmed;
  return node;
}

}  // namespace heatsink::report
