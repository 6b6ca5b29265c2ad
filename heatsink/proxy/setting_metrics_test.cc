// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/setting_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace heatsink::proxy {
namespace {

TEST(SettingMetrics, AreWhatHoldsNow) {
  policy::ProxyOptions options;
  options.private_connections_max = 12;
  options.maximum_tracked_keys = 14;
  options.maximum_size = 15;
  options.maximum_bytes = mebibytes(16);
  options.audit_rate = Share{0.25};
  options.cache_enabled = false;
  MetricSamples samples;
  append_setting_samples(samples, options, {.clients = 11, .client_buffers = mebibytes(13)});
  std::map<std::string, double> values;
  for (const MetricSample& sample : samples) values.emplace(sample.row->name, sample.value);
  const std::map<std::string, double> expected{
      {"heatsink_clients_max", 11},
      {"heatsink_private_connections_max", 12},
      {"heatsink_client_buffers_max_bytes", 13 * 1024 * 1024},
      {"heatsink_tracked_keys_max", 14},
      {"heatsink_cache_entries_max", 15},
      {"heatsink_cache_max_bytes", 16 * 1024 * 1024},
      {"heatsink_audit_sample_ratio", 0.25},
      {"heatsink_cache_enabled", 0}};
  EXPECT_EQ(values, expected);
  EXPECT_EQ(setting_rows().size(), samples.size());
}

}  // namespace
}  // namespace heatsink::proxy
