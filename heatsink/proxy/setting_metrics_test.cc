// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/setting_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "heatsink/proxy/shared_state.h"

namespace heatsink::proxy {
namespace {

TEST(SettingMetrics, AreWhatTheOptionsSay) {
  policy::ProxyOptions options;
  options.clients_max = 11;
  options.private_connections_max = 12;
  options.maximum_memory = mebibytes(13);
  options.maximum_tracked_keys = 14;
  options.maximum_size = 15;
  options.maximum_bytes = mebibytes(16);
  options.audit_rate = Share{0.25};
  options.cache_enabled = false;
  const SharedState shared(options, net::RedisUrl{}, 1);
  MetricSamples samples;
  append_setting_samples(samples, shared);
  std::map<std::string, double> values;
  for (const MetricSample& sample : samples) values.emplace(sample.row->name, sample.value);
  const std::map<std::string, double> expected{
      {"heatsink_max_clients", 11},
      {"heatsink_max_private_connections", 12},
      {"heatsink_max_client_buffers_bytes", 13 * 1024 * 1024},
      {"heatsink_max_tracked_keys", 14},
      {"heatsink_max_cache_entries", 15},
      {"heatsink_max_cache_bytes", 16 * 1024 * 1024},
      {"heatsink_audit_sample_ratio", 0.25},
      {"heatsink_cache_enabled", 0}};
  EXPECT_EQ(values, expected);
  EXPECT_EQ(setting_rows().size(), samples.size());
}

}  // namespace
}  // namespace heatsink::proxy
