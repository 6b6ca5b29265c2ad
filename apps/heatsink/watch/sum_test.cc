// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "apps/heatsink/watch/instance_for_test.h"

namespace heatsink::app {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;

constexpr double kClose = 0.01;  // counts are whole numbers over kCountedOver

const heat::Item& item_of(const Picture& picture, const std::string& name) {
  for (const heat::Item& item : picture.moment.items)
    if (item.identity.name == name) return item;
  ADD_FAILURE() << name << " is not there";
  static const heat::Item kNone;
  return kNone;
}

TEST(WatchSum, AKeyThatOneDoesNotNameHasAtMostSoMuchThere) {
  const Picture picture = picture_with({instance_with("a:1", {{"x", 100, 110}, {"y", 50, 50}}, 5),
                                        instance_with("b:1", {{"x", 200, 200}}, 8),
                                        instance_with("c:1", {{"y", 30, 31}}, 0)});
  EXPECT_THAT(item_of(picture, "x").rate, DoubleNear(300, kClose));
  EXPECT_THAT(item_of(picture, "x").rate_high, DoubleNear(310, kClose));
  EXPECT_THAT(item_of(picture, "y").rate, DoubleNear(80, kClose));
  EXPECT_THAT(item_of(picture, "y").rate_high, DoubleNear(89, kClose));
  EXPECT_THAT(picture.moment.unnamed_max[0], DoubleNear(13, kClose));
  EXPECT_THAT(picture.report.requests_rate, DoubleNear(380, kClose));
  EXPECT_EQ(picture.moment.window, std::chrono::seconds(10));
}

TEST(WatchSum, ASilentInstanceTakesTheUpperBoundsAway) {
  const Picture picture =
      picture_with({with_verdict(instance_with("a:1", {{"x", 100, 110}}, 5), "x", "hot"),
                    silent_instance("b:1")});
  EXPECT_EQ(picture.silent(), 1U);
  EXPECT_THAT(item_of(picture, "x").rate, DoubleNear(100, kClose));
  EXPECT_TRUE(std::isnan(item_of(picture, "x").rate_high));
  EXPECT_TRUE(std::isnan(picture.moment.unnamed_max[0]));
  ASSERT_EQ(picture.report.keys.size(), 1U);
  EXPECT_TRUE(std::isinf(picture.report.keys[0].verdict.rate_high));
  EXPECT_FALSE(picture.report.absent_max.has_value());
  EXPECT_FALSE(picture.report.upstream_up);
  EXPECT_THAT(picture.report.coherence,
              HasSubstr("1 of 2 instances does not answer (b:1: timed out)"));
}

TEST(WatchSum, AClientMayUseSeveralInstances) {
  constexpr auto kClients = static_cast<std::size_t>(heat::Kind::kClient);
  const auto with_clients =
      [](Instance of, const std::vector<std::pair<std::string, double>>& clients, double unnamed) {
        of.counts->totals.client_commands = unnamed;
        of.counts->unnamed_max[kClients] = unnamed;
        for (const auto& [name, rate] : clients) {
          of.counts->totals.client_commands += rate;
          of.counts->items.push_back({.identity = {.kind = heat::Kind::kClient, .name = name},
                                      .rate = rate,
                                      .rate_high = rate});
        }
        return of;
      };
  const Instance one =
      with_clients(instance_with("a:1", {{"x", 9, 9}}, 0), {{"c", 100}, {"d", 50}}, 5);
  const Instance other = with_clients(instance_with("b:1", {{"x", 9, 9}}, 0), {{"c", 30}}, 8);
  const Picture picture = picture_with({one, other});
  EXPECT_DOUBLE_EQ(item_of(picture, "c").rate, 130);
  EXPECT_DOUBLE_EQ(item_of(picture, "c").rate_high, 130);
  EXPECT_DOUBLE_EQ(item_of(picture, "d").rate, 50);
  EXPECT_DOUBLE_EQ(item_of(picture, "d").rate_high, 58) << "the other one does not name it";
  EXPECT_DOUBLE_EQ(picture.moment.unnamed_max[kClients], 13);
  EXPECT_DOUBLE_EQ(picture.moment.totals.client_commands, 193);

  const Picture with_older = picture_with({one, instance_with("b:1", {{"x", 9, 9}}, 0)});
  EXPECT_TRUE(std::isnan(with_older.moment.totals.client_commands)) << "it counts no clients";
}

TEST(WatchSum, BytesAreKnownIfAllInstancesCountThem) {
  Instance one = instance_with("a:1", {{"x", 100, 100}}, 0);
  Instance other = instance_with("b:1", {{"x", 50, 50}}, 0);
  one.counts->totals.bytes = one.counts->items[0].bytes = 4000;
  EXPECT_TRUE(std::isnan(picture_with({one, other}).moment.totals.bytes));
  other.counts->totals.bytes = other.counts->items[0].bytes = 1000;
  const Picture picture = picture_with({one, other});
  EXPECT_THAT(picture.moment.totals.bytes, DoubleNear(5000, kClose));
  EXPECT_THAT(item_of(picture, "x").bytes, DoubleNear(5000, kClose));
  EXPECT_TRUE(std::isnan(picture.moment.totals.server_cpu)) << "they may share a server";
}

// A watch is an instance, too: while one of its own is silent it gives no bounds.
TEST(WatchSum, AnInstanceWithoutBoundsTakesThemAway) {
  Instance watch = instance_with("b:1", {{"y", 50, heat::kNotKnown}}, heat::kNotKnown);
  watch.counts->unnamed_max[1] = heat::kNotKnown;
  watch.counts->items.push_back({.identity = {.kind = heat::Kind::kTemplate, .name = "y*"},
                                 .rate = 50,
                                 .rate_high = heat::kNotKnown});
  const Picture picture =
      picture_with({with_verdict(instance_with("a:1", {{"x", 100, 110}}, 5), "x", "hot"), watch});
  EXPECT_EQ(picture.silent(), 0U);
  EXPECT_TRUE(std::isnan(item_of(picture, "x").rate_high));
  EXPECT_TRUE(std::isnan(item_of(picture, "y").rate_high));
  EXPECT_THAT(item_of(picture, "y*").rate, DoubleNear(50, kClose));
  EXPECT_TRUE(std::isnan(picture.moment.unnamed_max[0]));
  ASSERT_EQ(picture.report.keys.size(), 1U);
  EXPECT_TRUE(std::isinf(picture.report.keys[0].verdict.rate_high));
  EXPECT_FALSE(picture.report.absent_max.has_value());
}

TEST(WatchSum, VerdictsAreThoseOfTheInstances) {
  const Picture picture =
      picture_with({with_verdict(instance_with("a:1", {{"x", 100, 100}}, 0), "x", "warm"),
                    with_verdict(instance_with("b:1", {{"x", 400, 400}}, 0), "x", "hot",
                                 std::chrono::seconds(9)),
                    instance_with("c:1", {{"z", 500, 500}}, 0)});
  ASSERT_EQ(picture.report.keys.size(), 1U) << "a key without a verdict is not listed";
  const report::KeyReport& key = picture.report.keys[0];
  EXPECT_EQ(key.verdict.temperature, detect::Temperature::kHot);
  EXPECT_EQ(key.verdict.reason, "hot at 1 of 3 instances (b:1: it is)");
  EXPECT_EQ(key.verdict.since, kWatchNow - std::chrono::seconds(9));
  EXPECT_THAT(key.verdict.rate, DoubleNear(500, kClose));
  EXPECT_THAT(key.verdict.share, DoubleNear(0.5, kClose));
  EXPECT_EQ(picture.report.hot_keys, 1U);
  EXPECT_THAT(picture.report.absent_max.value_or(-1), DoubleNear(500, kClose)) << "of z";
}

TEST(WatchSum, WithoutCountsAnyKeyMayHaveAllThatIsNotListed) {
  Instance library = with_verdict(instance_with("lib:1", {{"x", 60, 60}}, 0), "x", "hot");
  auto view = std::make_shared<HotkeysView>(*library.view);
  view->keys[0].rate = view->keys[0].rate_low = 60;
  view->keys[0].rate_high = 61;
  view->keys[0].reads_rate = 60;
  view->node.requests_rate = 100;
  view->node.absent_max = kUnknown;
  library.counts.reset();
  library.view = view;
  const Picture picture =
      picture_with({library, instance_with("a:1", {{"x", 10, 10}, {"y", 9, 9}}, 1)});
  EXPECT_THAT(item_of(picture, "x").rate, DoubleNear(70, kClose));
  EXPECT_THAT(item_of(picture, "x").rate_high, DoubleNear(71, kClose));
  EXPECT_THAT(item_of(picture, "y").rate_high, DoubleNear(109, kClose));
}

TEST(WatchSum, NamesThatAreCutAreAddedByTheirBeginning) {
  const std::string name(300, 'n');
  Instance one =
      with_verdict(instance_with("a:1", {{name.substr(0, 256), 100, 100}}, 0), name, "hot");
  one.counts->items[0].identity.is_cut = true;
  const Picture picture = picture_with({one});
  ASSERT_EQ(picture.report.keys.size(), 1U);
  EXPECT_TRUE(picture.report.keys[0].verdict.count.key_truncated);
  EXPECT_THAT(picture.report.keys[0].verdict.rate, DoubleNear(100, kClose));
}

TEST(WatchSum, NobodyAnswers) {
  const Picture picture = picture_with({silent_instance("a:1"), silent_instance("b:1")});
  EXPECT_EQ(picture.silent(), 2U);
  EXPECT_EQ(picture.report.requests_rate, 0);
  EXPECT_TRUE(picture.moment.items.empty());
  EXPECT_THAT(picture.report.coherence, HasSubstr("2 of 2 instances do not answer"));
}

// Each instance counts its own keys, names the busiest, and bounds the others.
TEST(WatchSum, TheTruthIsWithinTheBoundsWhateverIsNamedWhere) {
  std::mt19937_64 random(1);  // NOLINT: the same in each run
  for (int round = 0; round < 200; ++round) {
    std::vector<Instance> instances;
    std::map<std::string, double> truth;
    for (int place = 0; place < 5; ++place) {
      std::vector<std::pair<double, std::string>> counts;
      for (int key = 0; key < 20; ++key)
        counts.emplace_back(static_cast<double>(random() % 1000), std::to_string(key));
      std::ranges::sort(counts, std::greater());
      for (const auto& [rate, key] : counts) truth[key] += rate;
      const std::size_t named = random() % 20;
      std::vector<CountedKey> keys;
      for (std::size_t i = 0; i < named; ++i)
        keys.push_back({counts[i].second, counts[i].first - static_cast<double>(random() % 2),
                        counts[i].first + static_cast<double>(random() % 3)});
      for (CountedKey& key : keys) key.low = std::max(key.low, 0.0);
      instances.push_back(instance_with("i" + std::to_string(place), keys, counts[named].first));
    }
    const Picture picture = picture_with(instances);
    for (const auto& [key, rate] : truth) {
      const auto found = std::ranges::find(
          picture.moment.items, key, [](const heat::Item& item) { return item.identity.name; });
      if (found == picture.moment.items.end()) {
        EXPECT_LE(rate, picture.moment.unnamed_max[0] + kClose);
        continue;
      }
      EXPECT_LE(found->rate, rate + kClose);
      EXPECT_GE(found->rate_high, rate - kClose);
    }
  }
}

}  // namespace
}  // namespace heatsink::app
