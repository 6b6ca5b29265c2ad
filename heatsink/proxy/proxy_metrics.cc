// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/proxy_metrics.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/base/process_metrics.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/key_metrics.h"
#include "heatsink/proxy/mailbox_metrics.h"
#include "heatsink/proxy/memory_use.h"
#include "heatsink/proxy/near_report.h"
#include "heatsink/proxy/replica_metrics.h"
#include "heatsink/proxy/setting_metrics.h"
#include "heatsink/proxy/slots_seen.h"
#include "heatsink/proxy/thread_metrics.h"
#include "heatsink/proxy/worker.h"
#include "heatsink/report/report.h"
#include "heatsink/session/latencies.h"

namespace heatsink::proxy {
namespace {

constexpr MetricRow kHitsByCommand{"heatsink_local_hits_by_command_total", MetricKind::kCounter,
                                   "Commands answered from local copies, by command.", "command"};
constexpr MetricRow kClients{"heatsink_clients", MetricKind::kGauge,
                             "Client connections open now."};
constexpr MetricRow kSubscribers{
    "heatsink_verdict_subscribers", MetricKind::kGauge,
    "Clients that have subscribed to __heatsink__:hot, the channel for verdicts."};
constexpr MetricRow kPrivate{"heatsink_private_connections", MetricKind::kGauge,
                             "Private connections to the server that clients hold now."};
constexpr MetricRow kUp{
    "heatsink_coherence_up", MetricKind::kGauge,
    "1 while the server proves that it sends invalidations, so that copies may be served; else 0."};
constexpr MetricRow kEntries{"heatsink_cache_entries", MetricKind::kGauge,
                             "Local copies held now."};
constexpr MetricRow kBytes{"heatsink_cache_bytes", MetricKind::kGauge,
                           "Bytes of the local copies held now."};
constexpr MetricRow kTracked{
    "heatsink_tracked_keys", MetricKind::kGauge,
    "Key names that the server tracks for the proxy now. cache.maximum-tracked-keys limits them."};
constexpr MetricRow kBuffers{"heatsink_client_buffers_bytes", MetricKind::kGauge,
                             "Bytes of requests and replies buffered for clients now, in steps of "
                             "64 KiB per client. proxy.maximum-memory limits them."};
constexpr MetricRow kHot{"heatsink_hot_keys", MetricKind::kGauge, "Keys that are hot now."};
constexpr MetricRow kWriteHot{"heatsink_write_hot_keys", MetricKind::kGauge,
                              "Keys that are write-hot now: busy, but not worth a copy."};
constexpr MetricRow kStaleness{
    "heatsink_audit_staleness_seconds", MetricKind::kHistogram,
    "How long, at least, a suspected copy could be served after the server's other answer. 0: it "
    "was gone by then. A copy is suspected when the server answers another value in the audit."};
constexpr MetricRow kLogDropped{
    "heatsink_log_dropped_total", MetricKind::kCounter,
    "Log lines that were lost: the log was not read fast enough, or its file took none."};
constexpr MetricRow kWarm{"heatsink_warm_keys", MetricKind::kGauge, "Keys that are warm now."};
constexpr MetricRow kUpstreamUp{"heatsink_upstream_up", MetricKind::kGauge,
                                "1 while the server answers the proxy; else 0."};
constexpr MetricRow kLeader{"heatsink_upstream_info", MetricKind::kGauge,
                            "1, with the server that is the upstream now. While none may be used, "
                            "it is the last one, and heatsink_upstream_up is 0.",
                            "server"};
constexpr MetricRow kLeaderChanges{"heatsink_upstream_changes_total", MetricKind::kCounter,
                                   "How often another server has become the upstream: after a "
                                   "fail-over, or because its name moved."};
constexpr MetricRow kSentinels{"heatsink_sentinels", MetricKind::kGauge,
                               "Sentinels that watch the master, by state: known, or answering the "
                               "proxy. Without redis+sentinel:// both are 0.",
                               "state"};
constexpr MetricRow kClientLatency{
    "heatsink_client_latency_seconds", MetricKind::kHistogram,
    "Time from reading a client's commands until all of them are answered. For a client that does "
    "not pipeline, it is the latency of each command. Commands that wait by their nature (BLPOP, "
    "SUBSCRIBE, MONITOR) are not included."};
constexpr MetricRow kUpstreamLatency{
    "heatsink_upstream_latency_seconds", MetricKind::kHistogram,
    "Time from sending a command to the server until its whole reply has arrived. connection is "
    "its kind: shared or private. Commands that wait (BLPOP) use private connections.",
    "connection"};
constexpr MetricRow kFillLatency{"heatsink_fill_latency_seconds", MetricKind::kHistogram,
                                 "Time from asking the server for a local copy until its answer."};

constexpr MetricRow kCertificateEnd{
    "heatsink_tls_certificate_expiry_timestamp_seconds", MetricKind::kGauge,
    "When a certificate of the proxy, or of its chain, expires, in seconds since 1970. of is "
    "clients (proxy.tls-cert) or upstream (upstream.tls-cert). Only with TLS.",
    "of"};

constexpr MetricRow kSaved{
    "heatsink_copies_saved_ratio", MetricKind::kGauge,
    "Share of all reads that local copies spare the server, less what the copies cost it. The "
    "proxy estimates it by simulations of its traffic. Only with cache.admission: pays."};
constexpr MetricRow kReadCpu{
    "heatsink_server_read_cpu_seconds", MetricKind::kGauge,
    "Estimate of the server's CPU time for one read that a local copy spares it. Only with "
    "cache.admission: pays."};

constexpr MetricRow kCpuUsed{
    "heatsink_server_cpu_cores", MetricKind::kGauge,
    "Cores that the servers use for all clients, by their INFO. Absent: not known."};
constexpr MetricRow kCpuSpared{
    "heatsink_server_cpu_spared_cores", MetricKind::kGauge,
    "Estimate: cores that they would use in addition without the proxy. May be negative."};

constexpr MetricRow kFleetUp{
    "heatsink_fleet_up", MetricKind::kGauge,
    "1 while the merged counts of the fleet are known and judge keys; else 0: the proxy goes on "
    "alone. Only with fleet.enabled."};
constexpr MetricRow kFleetInstances{
    "heatsink_fleet_instances", MetricKind::kGauge,
    "Instances in the latest merged list. Only with fleet.enabled."};
constexpr MetricRow kFleetReports{"heatsink_fleet_reports_total", MetricKind::kCounter,
                                  "Reports that the proxy has sent. Only with fleet.enabled."};
constexpr MetricRow kFleetFailures{
    "heatsink_fleet_failures_total", MetricKind::kCounter,
    "Reports and lists that the server refused or did not answer. Only with fleet.enabled."};
constexpr MetricRow kFleetMerges{
    "heatsink_fleet_merges_total", MetricKind::kCounter,
    "Merged lists that this proxy has written. Only with fleet.enabled."};
constexpr MetricRow kFleetBroken{
    "heatsink_fleet_broken_total", MetricKind::kCounter,
    "Reports and lists that this proxy refused to believe: damaged, too long, or impossible. Only "
    "with fleet.enabled."};

using Histogram = copies::DurationHistogram Latencies::*;

MetricSample latency_of(const MetricRow& row, std::span<const Worker* const> workers,
                        Histogram which, MetricLabels labels = {}) {
  std::vector<const copies::DurationHistogram*> histograms;
  for (const Worker* worker : workers) histograms.push_back(&(worker->latencies().*which));
  MetricSample sample = copies::DurationHistogram::sample(row, histograms);
  sample.labels = std::move(labels);
  return sample;
}

void append_latencies(MetricSamples& samples, const copies::CopyKeeper& keeper,
                      std::span<const Worker* const> workers) {
  samples.push_back(latency_of(kClientLatency, workers, &Latencies::client));
  samples.push_back(
      latency_of(kUpstreamLatency, workers, &Latencies::shared, {{"connection", "shared"}}));
  samples.push_back(
      latency_of(kUpstreamLatency, workers, &Latencies::exclusive, {{"connection", "private"}}));
  samples.push_back(keeper.fill_latency().sample(kFillLatency));
}

void append_certificates(MetricSamples& samples, const SharedState& shared) {
  const auto append = [&samples](const char* of, const net::TlsContext& tls) {
    if (const std::optional<std::int64_t> end = tls.expires_at())
      samples.push_back({&kCertificateEnd, static_cast<double>(*end), {{"of", of}}});
  };
  append("clients", shared.client_tls());
  append("upstream", shared.upstream_address.tls());
}

void append_upstream(MetricSamples& samples, const SharedState& shared) {
  samples.push_back({&kLeader, 1, {{"server", shared.upstream_address.where()}}});
  samples.push_back({&kLeaderChanges, static_cast<double>(shared.leader_changes.load())});
  samples.push_back(
      {&kSentinels, static_cast<double>(shared.sentinels_known.load()), {{"state", "known"}}});
  samples.push_back({&kSentinels,
                     static_cast<double>(shared.sentinels_answering.load()),
                     {{"state", "answering"}}});
}

void append_benefit(MetricSamples& samples, const report::Report& report) {
  if (!report.copies) return;
  samples.push_back({&kSaved, report.copies->saved});
  if (report.copies->read_cpu)
    samples.push_back({&kReadCpu, std::chrono::duration<double>(*report.copies->read_cpu).count()});
}

void append_fleet(MetricSamples& samples, const std::optional<report::FleetReport>& fleet) {
  if (!fleet) return;
  samples.push_back({&kFleetUp, fleet->is_known ? 1.0 : 0.0});
  samples.push_back({&kFleetInstances, static_cast<double>(fleet->instances)});
  samples.push_back({&kFleetReports, static_cast<double>(fleet->reports)});
  samples.push_back({&kFleetFailures, static_cast<double>(fleet->failures)});
  samples.push_back({&kFleetMerges, static_cast<double>(fleet->merged)});
  samples.push_back({&kFleetBroken, static_cast<double>(fleet->broken)});
}

void append_memory(MetricSamples& samples, const SharedState& shared,
                   const copies::CopyKeeper& keeper, const report::Report& report,
                   std::span<const Worker* const> workers) {
  MemoryUse use;
  for (const Worker* worker : workers) {
    use.clients += worker->memory().clients.load(std::memory_order_relaxed);
    use.upstream += worker->memory().upstream.load(std::memory_order_relaxed);
    use.detection += worker->memory().detection.load(std::memory_order_relaxed);
    use.addresses += worker->client_commands()->memory_bytes();
  }
  // A copy's entry, and its places in the index and among the names (cache/hot_table.h).
  constexpr std::uint64_t kEntryBytes = 240;
  use.copies = report.cached_bytes + report.cached_entries * kEntryBytes;
  use.addresses += keeper.client_bytes() + shared.client_names.memory_bytes();
  use.history = keeper.history_bytes() + shared.heat.memory_bytes();
  use.log = log_bytes_waiting();
  use.tls = net::tls_memory_bytes();
  use.fixed = shared.fixed_bytes.load(std::memory_order_relaxed);
  const ResidentMemory resident = resident_memory();
  use.program = resident.files;
  append_memory_samples(samples, use, resident.all);
}

}  // namespace

MetricSamples samples_of(const SharedState& shared, copies::CopyKeeper& keeper,
                         const report::Report& report, std::span<const Worker* const> workers) {
  MetricSamples samples;
  copies::append_samples(samples, [&](copies::Count count) {
    std::uint64_t sum = keeper.counters().read(count);
    for (const Worker* worker : workers) sum += worker->counters().read(count);
    return sum;
  });
  samples.push_back(keeper.staleness().sample(kStaleness));
  append_latencies(samples, keeper, workers);
  for (const copies::LocalRead& read : copies::local_reads()) {
    std::uint64_t sum = 0;
    for (const Worker* worker : workers) sum += worker->read_hits().of(read);
    samples.push_back(
        {&kHitsByCommand, static_cast<double>(sum), {{"command", std::string(read.name)}}});
  }
  const auto add = [&samples](const MetricRow& row, std::uint64_t value) {
    samples.push_back({&row, static_cast<double>(value)});
  };
  add(kLogDropped, log_lines_dropped());
  append_memory(samples, shared, keeper, report, workers);
  append_mailbox_samples(samples, keeper, workers);
  const std::shared_ptr<const copies::PolicySnapshot> policy = shared.held();
  append_key_samples(samples, report, static_cast<std::size_t>(policy->options.metrics_keys));
  if (policy->limits) policy->limits->append_samples(samples);
  append_setting_samples(
      samples, policy->options,
      {.clients = std::min(static_cast<std::uint64_t>(policy->options.clients_max),
                           shared.connections_max),
       .client_buffers = Bytes{shared.memory.max_bytes()}});
  append_certificates(samples, shared);
  append_benefit(samples, report);
  if (report.server_cpu) {
    samples.push_back({&kCpuUsed, report.server_cpu->cores});
    samples.push_back({&kCpuSpared, report.server_cpu->spared_cores});
  }
  append_slot_samples(samples, report);
  append_fleet(samples, report.fleet);
  add(kUpstreamUp, report.upstream_up ? 1 : 0);
  append_upstream(samples, shared);
  add(kClients, report.clients);
  add(kSubscribers, shared.hot_subscribers.load(std::memory_order_relaxed));
  add(kPrivate, shared.private_connections.load());
  std::vector<const NearFigures*> near;
  near.reserve(workers.size());
  for (const Worker* worker : workers) near.push_back(&worker->near_figures());
  append_near_samples(samples, near);
  add(kUp, shared.proof.up() ? 1 : 0);
  add(kEntries, report.cached_entries);
  add(kBytes, report.cached_bytes);
  add(kTracked, shared.tracked_keys.load(std::memory_order_relaxed));
  add(kBuffers, shared.memory.used_bytes());
  add(kHot, report.hot_keys);
  add(kWriteHot, report.write_hot_keys);
  add(kWarm, report.keys.size() - report.hot_keys - report.write_hot_keys);
  return samples;
}

MetricRows metric_rows() {
  MetricRows rows{&kTracked,
                  &kBuffers,
                  &kHitsByCommand,
                  &kClients,
                  &kSubscribers,
                  &kPrivate,
                  &kUp,
                  &kEntries,
                  &kBytes,
                  &kHot,
                  &kWriteHot,
                  &kStaleness,
                  &kLogDropped,
                  &kWarm,
                  &kUpstreamUp,
                  &kClientLatency,
                  &kUpstreamLatency,
                  &kFillLatency,
                  &kCertificateEnd,
                  &kSaved,
                  &kReadCpu,
                  &kCpuUsed,
                  &kCpuSpared,
                  &kLeader,
                  &kLeaderChanges,
                  &kSentinels,
                  &kFleetUp,
                  &kFleetInstances,
                  &kFleetReports,
                  &kFleetFailures,
                  &kFleetMerges,
                  &kFleetBroken};
  for (const copies::CountRow& row : copies::count_rows()) rows.push_back(&row.metric);
  for (const MetricRow* row : key_metric_rows()) rows.push_back(row);
  for (const MetricRow* row : slot_metric_rows()) rows.push_back(row);
  for (const MetricRow* row : memory_rows()) rows.push_back(row);
  for (const MetricRow* row : setting_rows()) rows.push_back(row);
  for (const MetricRow* row : replica_rows()) rows.push_back(row);
  for (const MetricRow* row : near_rows()) rows.push_back(row);
  for (const MetricRow* row : thread_rows()) rows.push_back(row);
  for (const MetricRow* row : mailbox_rows()) rows.push_back(row);
  for (const MetricRow* row : policy::Limits::metric_rows()) rows.push_back(row);
  return rows;
}

}  // namespace heatsink::proxy
