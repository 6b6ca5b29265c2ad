// SPDX-License-Identifier: Apache-2.0
// Accuracy on traffic that nobody here made (skipped where the traces are not at hand), and on
// generated traffic that must do as well.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "heatsink/base/testing/source_dir.h"
#include "heatsink/detect/testing/accuracy.h"
#include "heatsink/detect/testing/traces.h"
#include "heatsink/detect/testing/workloads.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;
using testing::Accuracy;
using testing::AccuracyRun;
using testing::Workload;

void expect_never_wrong(const Accuracy& accuracy) {
  EXPECT_GE(accuracy.looks, 4u);
  EXPECT_EQ(accuracy.bounds_violated, 0u) << "of " << accuracy.keys_judged;
  EXPECT_LE(accuracy.memory_bytes, 2'500'000u);
}

// The promises of docs/design/detect.md for traffic with hot keys.
void expect_on_target(const Accuracy& accuracy) {
  expect_never_wrong(accuracy);
  EXPECT_GT(accuracy.hot, 10 * accuracy.looks);
  EXPECT_GE(accuracy.p100(), 0.995);
  EXPECT_GE(accuracy.recall(), 0.995);
  EXPECT_GE(accuracy.precision(), 0.995);
  EXPECT_LE(accuracy.mean_rate_error(), 0.005);
}

class RealTraffic : public ::testing::Test {
 protected:
  // REQUIRES: not absent().
  Accuracy replay(const std::string& file, double rate) const {
    AccuracyRun run(rate, RecorderOptions{});
    traces_.for_each_key(file, [&](std::string_view key) { run.access(key); });
    return run.accuracy();
  }
  std::string why_absent(const std::string& file) const { return traces_.why_absent(file); }

  testing::Traces traces_{heatsink::kSourceDir};
};

TEST_F(RealTraffic, OrmBusyLoopsAndBursts) {
  const std::string file = "cache2k-orm-busy.csv.zst";
  if (const std::string why = why_absent(file); !why.empty()) GTEST_SKIP() << why;
  const Accuracy accuracy = replay(file, 100'000);
  expect_on_target(accuracy);
  EXPECT_GE(accuracy.p1000(), 0.99);
}

TEST_F(RealTraffic, ScarabDeepIntoTheTail) {
  const std::string file = "scarab-recs.csv.zst";
  if (const std::string why = why_absent(file); !why.empty()) GTEST_SKIP() << why;
  const Accuracy accuracy = replay(file, 40'000);
  expect_on_target(accuracy);
  EXPECT_GE(accuracy.p1000(), 0.99);
}

TEST_F(RealTraffic, Web07) {
  const std::string file = "cache2k-web07.csv.zst";
  if (const std::string why = why_absent(file); !why.empty()) GTEST_SKIP() << why;
  const Accuracy accuracy = replay(file, 2'000);
  expect_on_target(accuracy);
  EXPECT_GE(accuracy.p1000(), 0.99);
}

TEST_F(RealTraffic, TwitterByItsPopularityCurve) {
  const std::string file = "twitter-cluster52-10m.rankfreq.csv";
  if (const std::string why = why_absent(file); !why.empty()) GTEST_SKIP() << why;
  const auto draw = traces_.resampled(file, 1);
  const Accuracy accuracy =
      testing::accuracy_of({"twitter52", 24'000, seconds(25), [draw](double) { return draw(); }});
  expect_on_target(accuracy);
  EXPECT_GE(accuracy.p1000(), 0.99);
}

TEST_F(RealTraffic, CordaHasNothingHot) {
  const std::string file = "corda-vaultservice.csv.zst";
  if (const std::string why = why_absent(file); !why.empty()) GTEST_SKIP() << why;
  const Accuracy accuracy = replay(file, 4'000);
  expect_never_wrong(accuracy);
  EXPECT_EQ(accuracy.verdicts, 0u);
}

constexpr double kRate = 20'000;
constexpr Nanos kLength = seconds(20);
constexpr std::uint64_t kKeys = 500'000;

class Shapes : public ::testing::TestWithParam<Workload> {};

TEST_P(Shapes, AreOnTarget) {
  const Accuracy accuracy = testing::accuracy_of(GetParam());
  expect_on_target(accuracy);
  // Where few accesses make a window, the thousandth key has about ten of them, and loops as many:
  // bench_detect asks for 0.99 at 100 000 per second.
  EXPECT_GE(accuracy.p1000(), 0.98);
}

INSTANTIATE_TEST_SUITE_P(Traffic, Shapes,
                         ::testing::Values(testing::zipf(kRate, kLength, 10'000'000),
                                           testing::jumping_hot_set(kRate, kLength, kKeys),
                                           testing::loops_and_bursts(kRate, kLength, kKeys),
                                           testing::flash_crowd(kRate, kLength, kKeys),
                                           testing::diurnal_drift(kRate, kLength, kKeys),
                                           testing::scan_and_hot_set(kRate, kLength),
                                           testing::periodic_bursts(kRate, kLength, kKeys)),
                         [](const auto& instance) {
                           std::string name;
                           for (const char c : instance.param.name)
                             name += std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

TEST(UniformTraffic, GivesNoVerdict) {
  const Accuracy accuracy = testing::accuracy_of(testing::uniform(kRate, kLength, 200'000));
  expect_never_wrong(accuracy);
  EXPECT_EQ(accuracy.hot, 0u);
  EXPECT_EQ(accuracy.verdicts, 0u);
}

}  // namespace
}  // namespace heatsink::detect
