// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/setting_metrics.h"

namespace heatsink::proxy {
namespace {

constexpr MetricRow gauge(std::string_view name, std::string_view help) {
  return {name, MetricKind::kGauge, help};
}

constexpr MetricRow kClientsMax = gauge(
    "heatsink_clients_max",
    "Client connections that may be open at once. proxy.maximum-clients, or fewer if the limit of "
    "file descriptors (ulimit -n) is lower.");
constexpr MetricRow kPrivateMax =
    gauge("heatsink_private_connections_max",
          "proxy.maximum-private-connections, the limit of heatsink_private_connections.");
constexpr MetricRow kBuffersMax =
    gauge("heatsink_client_buffers_max_bytes",
          "proxy.maximum-memory, or the limit that the proxy chose itself: the limit of "
          "heatsink_client_buffers_bytes.");
constexpr MetricRow kTrackedMax = gauge(
    "heatsink_tracked_keys_max", "cache.maximum-tracked-keys, the limit of heatsink_tracked_keys.");
constexpr MetricRow kEntriesMax =
    gauge("heatsink_cache_entries_max", "cache.maximum-size, the limit of heatsink_cache_entries.");
constexpr MetricRow kBytesMax =
    gauge("heatsink_cache_max_bytes", "cache.maximum-bytes, the limit of heatsink_cache_bytes.");
constexpr MetricRow kAudits =
    gauge("heatsink_audit_sample_ratio",
          "audit.sample-rate: the share of local hits that the audit compares, 0 to 1. 0: none.");
constexpr MetricRow kEnabled = gauge(
    "heatsink_cache_enabled", "1 if cache.enabled is set; 0: a dry run without local copies.");

}  // namespace

void append_setting_samples(MetricSamples& samples, const policy::ProxyOptions& options,
                            const LimitsInForce& limits) {
  const auto add = [&samples](const MetricRow& row, auto value) {
    samples.push_back({&row, static_cast<double>(value)});
  };
  add(kClientsMax, limits.clients);
  add(kPrivateMax, options.private_connections_max);
  add(kBuffersMax, limits.client_buffers.count);
  add(kTrackedMax, options.maximum_tracked_keys);
  add(kEntriesMax, options.maximum_size);
  add(kBytesMax, options.maximum_bytes.count);
  add(kAudits, options.audit_rate.part);
  add(kEnabled, options.cache_enabled ? 1 : 0);
}

MetricRows setting_rows() {
  return {&kClientsMax, &kPrivateMax, &kBuffersMax, &kTrackedMax,
          &kEntriesMax, &kBytesMax,   &kAudits,     &kEnabled};
}

}  // namespace heatsink::proxy
