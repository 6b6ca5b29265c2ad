// SPDX-License-Identifier: Apache-2.0
// What is hot where no rate is set: a share of the node's load, above a least rate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "heatsink/detect/access_for_test.h"
#include "heatsink/detect/node_for_test.h"
#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

Rule automatic_rule(const Measure& measure = {}) {
  Rule rule;
  rule.measure = measure;
  set_thresholds(rule, std::nullopt, std::nullopt);
  return rule;
}

SelectorOptions automatic() { return {.rules = RuleSet(automatic_rule()), .burst = 0}; }

// A window of ten seconds with `all` accesses: those of `keys`, the others of keys that are not
// listed.
Summary window_with(Nanos at, std::uint64_t all, const std::vector<Measured>& keys) {
  Summary summary = window_of(at, {}, keys);
  summary.reads += all - summary.requests;
  summary.requests = all;
  summary.covers_window = true;
  return summary;
}

TEST(SelectorAutomatic, HotIsOnePercentOfTheTraffic) {
  Selector selector(automatic());
  const auto changes =
      selector.update(window_with(seconds(0), 400'000, {{"a", 4'000}, {"b", 3'999}, {"c", 999}}));
  EXPECT_THAT(told(changes), ElementsAre("+a"));
  EXPECT_EQ(verdict_of(selector, "a").reason, "400/s >= hot-qps auto=400 (1.0 % of traffic)");
  EXPECT_EQ(temperature_of(selector, "b"), Temperature::kWarm);
  EXPECT_EQ(verdict_of(selector, "b").reason, "400/s >= warm-qps auto=100 (1.0 % of traffic)");
  EXPECT_EQ(temperature_of(selector, "c"), Temperature::kCold) << "below a quarter of that";
}

TEST(SelectorAutomatic, NothingIsHotOnAnIdleNode) {
  Selector selector(automatic());
  selector.update(window_with(seconds(0), 1'500, {{"a", 999}, {"b", 249}}));
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kWarm);
  EXPECT_EQ(temperature_of(selector, "b"), Temperature::kCold);
  selector.update(window_with(milliseconds(100), 1'501, {{"a", 1'000}, {"b", 250}}));
  EXPECT_EQ(temperature_of(selector, "a"), Temperature::kHot);
  EXPECT_EQ(verdict_of(selector, "a").reason, "100/s >= hot-qps auto=100 (66.6 % of traffic)");
  EXPECT_EQ(temperature_of(selector, "b"), Temperature::kWarm);
}

// The others' traffic grows: the key is as busy as before, but no longer what makes the node busy.
TEST(SelectorAutomatic, AKeyCoolsDownWhenTheNodeGetsBusier) {
  Selector selector(automatic());
  EXPECT_THAT(told(selector.update(window_with(seconds(0), 150'000, {{"a", 1'500}}))),
              ElementsAre("+a"));
  // Hysteresis, as with a number.
  EXPECT_THAT(told(selector.update(window_with(seconds(20), 187'500, {{"a", 1'500}}))), IsEmpty());
  const auto changes = selector.update(window_with(seconds(21), 200'000, {{"a", 1'500}}));
  EXPECT_THAT(told(changes), ElementsAre("-a"));
  EXPECT_EQ(changes.front().verdict.reason,
            "at most 150/s < 160 (hot-qps auto=200 x demote-ratio 0.8)");
}

TEST(SelectorAutomatic, EachDimensionHasItsOwnTraffic) {
  const Measure writes{seconds(10), Dimension::kWrites};
  Rule rule = automatic_rule(writes);
  rule.write_hot_ratio = 0;
  Selector selector(SelectorOptions{.rules = RuleSet(rule), .burst = 0});
  Summary summary = window_of(seconds(0), writes, {{"a", 2'000}, {"b", 1'999}});
  summary.covers_window = true;
  summary.writes = 200'000;
  summary.requests = 100'000'000;  // of reads, which do not count here
  EXPECT_THAT(told(selector.update(summary)), ElementsAre("+a"));
  EXPECT_EQ(verdict_of(selector, "a").reason, "200 writes/s >= hot auto=200 (1.0 % of writes)");
}

// A share leaves room for so many: with hysteresis for 1 / (0.8 x 1 %), and for those whose
// residence is not over.
TEST(SelectorAutomatic, FewKeysAreHotWhateverTheTraffic) {
  Selector selector(automatic());
  std::mt19937_64 random(1);
  constexpr int kKeys = 400;
  std::vector<double> weights(kKeys, 1);
  std::size_t most = 0;
  for (int tick = 0; tick < 300; ++tick) {
    for (double& weight : weights) {
      weight = std::clamp(weight * (0.8 + 0.4 * static_cast<double>(random() % 1001) / 1000), 0.01,
                          100.0);
    }
    const auto all = 1'000 + random() % 2'000'000;
    double sum = 0;
    for (const double weight : weights) sum += weight;
    std::vector<Measured> keys;
    for (int key = 0; key < kKeys; ++key) {
      keys.push_back({"k" + std::to_string(key),
                      static_cast<std::uint64_t>(weights[static_cast<std::size_t>(key)] / sum *
                                                 static_cast<double>(all))});
    }
    // A window apart, so that no residence keeps a key.
    selector.update(window_with(seconds(10) * tick, all, keys));
    most = std::max(
        most,
        static_cast<std::size_t>(std::count_if(
            selector.verdicts().begin(), selector.verdicts().end(),
            [](const Verdict& verdict) { return verdict.temperature == Temperature::kHot; })));
  }
  EXPECT_LE(most, 125u);
  EXPECT_GE(most, 10u);
}

// A node with background traffic, and a key that jumps: when is it told, and is nothing else?
std::optional<Nanos> time_to_detect(double background_per_second, double jump_per_second,
                                    std::size_t workers) {
  NodeForTest node({.rules = RuleSet(automatic_rule())}, workers, kStart);
  const TimePoint jumps_at = kStart + seconds(25) + milliseconds(63);
  const Nanos every(static_cast<Nanos::rep>(1e9 / jump_per_second));
  const Nanos background_every(static_cast<Nanos::rep>(1e9 / background_per_second));
  TimePoint background = kStart;
  TimePoint next = jumps_at;
  for (std::size_t i = 0; next < jumps_at + seconds(3); ++i) {
    const bool is_jump = next < background;
    node.go_to(is_jump ? next : background);
    node.record(i % workers, is_jump ? "jump" : "k" + std::to_string(i % 1000));
    (is_jump ? next : background) += is_jump ? every : background_every;
    for (const NodeForTest::Told& told : node.told()) {
      EXPECT_EQ(told.change.verdict.count.key, "jump");
      if (told.change.kind == Change::Kind::kPromote) return told.at - jumps_at;
    }
  }
  return std::nullopt;
}

TEST(SelectorAutomatic, AJumpIsToldAsSoonAsWithANumber) {
  for (const std::size_t workers : {1U, 2U, 3U}) {
    // The threshold is 100/s; then it is 200/s.
    for (const double background : {2'000.0, 10'000.0, 20'000.0}) {
      const double threshold = std::max(100.0, background / 100);
      const std::optional<Nanos> took = time_to_detect(background, threshold * 100, workers);
      ASSERT_TRUE(took) << background;
      EXPECT_LE(*took, milliseconds(50)) << background << ", " << workers << " workers";
    }
  }
}

// Shards may see a key and the traffic in any proportion: together they leave out no key that
// matters.
TEST(SelectorAutomatic, FloorsOfShardsAddUpToLessThanTheWhole) {
  const RuleSet rules{automatic_rule()};
  std::mt19937_64 random(2);
  for (int round = 0; round < 10'000; ++round) {
    const std::size_t shards = 2 + random() % 15;
    const RuleSet::ShardCounts counts = rules.shard_counts(0, 0.25, shards);
    std::uint64_t all = 0, left_out = 0;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      const std::uint64_t traffic = random() % (std::uint64_t{1} << (random() % 24));
      all += traffic;
      left_out += std::min(counts.floor.of(traffic) - 1, traffic);
    }
    ASSERT_LE(left_out, rules.floor(0, 0.25).of(all)) << all << " in " << shards;
  }
}

}  // namespace
}  // namespace heatsink::detect
