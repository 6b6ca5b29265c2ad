// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/thread_metrics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <string>
#include <vector>

namespace heatsink::proxy {
namespace {

std::map<std::string, double> seconds_of(const std::thread& keeper,
                                         std::span<const std::thread> workers) {
  MetricSamples samples;
  append_thread_samples(samples, keeper, workers);
  std::map<std::string, double> seconds;
  for (const MetricSample& sample : samples)
    seconds.emplace(sample.labels.at(0).second, sample.value);
  return seconds;
}

TEST(ThreadMetrics, AreTheTimesOfTheThreadsThatWork) {
  std::atomic<bool> stop{false};
  std::promise<void> end;
  const std::shared_future<void> ended(end.get_future());
  const auto works = [&stop] {
    while (!stop) {
    }
  };
  std::vector<std::thread> workers;
  workers.emplace_back(works);
  workers.emplace_back([ended] { ended.wait(); });
  std::thread keeper([ended] { ended.wait(); });
  constexpr double kEnough = 0.02;
  std::map<std::string, double> seconds;
  while ((seconds = seconds_of(keeper, workers))["worker-0"] < kEnough) {
  }
  EXPECT_EQ(seconds.size(), 3u);
  EXPECT_LT(seconds.at("worker-1"), kEnough);
  EXPECT_LT(seconds.at("keeper"), kEnough);
  stop = true;
  end.set_value();
  keeper.join();
  for (std::thread& worker : workers) worker.join();
  EXPECT_TRUE(seconds_of(keeper, workers).empty());
}

}  // namespace
}  // namespace heatsink::proxy
