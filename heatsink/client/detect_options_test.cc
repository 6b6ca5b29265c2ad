// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/detect_options.h"

#include <gtest/gtest.h>

namespace heatsink::client {
namespace {

ClientOptions per_second(double hot) {
  ClientOptions options;
  options.hot_qps = hot;
  options.warm_qps = hot / 2;
  options.shards = 1;
  return options;
}

double hot_of(const ClientOptions& options) { return rules_of(options).rules().front().hot; }

TEST(DetectOptions, OneProcessOfSeveralHasItsPartOfTheThreshold) {
  ClientOptions options = per_second(3000);
  EXPECT_EQ(hot_of(options), 3000);
  options.fleet_size = 3;
  EXPECT_EQ(hot_of(options), 1000);
}

TEST(DetectOptions, AFleetTracksAndListsRarerKeys) {
  ClientOptions options = per_second(3000);
  const detect::RuleSet rules = rules_of(options);
  const auto alone = recorder_options(options, 1, rules).worth_tracking;
  const auto floor = floor_of(options, rules);
  options.fleet_enabled = true;
  EXPECT_LT(recorder_options(options, 1, rules).worth_tracking.least, alone.least);
  EXPECT_LT(floor_of(options, rules).least, floor.least);
}

TEST(DetectOptions, AKeyWithoutAccessesIsDemotedBeforeItsCopyIsForgotten) {
  ClientOptions options = per_second(10);
  options.window = std::chrono::seconds(10);
  options.inactive_expire = std::chrono::seconds(30);
  options.demotion_interval = std::chrono::seconds(60);
  EXPECT_EQ(selector_options(options, rules_of(options)).demotion_interval,
            std::chrono::seconds(20));
}

TEST(DetectOptions, ShardsAreOnePerCoreUpToEight) {
  ClientOptions options;
  EXPECT_GE(shards_of(options), 1U);
  EXPECT_LE(shards_of(options), 8U);
  options.shards = 5;
  EXPECT_EQ(shards_of(options), 5U);
}

}  // namespace
}  // namespace heatsink::client
