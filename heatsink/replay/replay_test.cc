// SPDX-License-Identifier: Apache-2.0
// The room as a whole: small made-up traffic with known answers, and the real traces.
#include "heatsink/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include "heatsink/base/testing/source_dir.h"

namespace heatsink::replay {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// 1000 requests/s for a minute: every tenth to "hot", the others to keys that never return.
Trace one_hot_key(Operation operation = Operation::kGet) {
  TraceBuilder builder(mebibytes(64));
  for (std::int64_t i = 0; i < 60'000; ++i) {
    const bool hot = i % 10 == 0;
    builder.add({hot ? "hot" : "cold" + std::to_string(i), 0, i * 1'000'000,
                 hot ? operation : Operation::kGet, 100});
  }
  return std::move(builder).finish({}).value();
}

SavingsOptions small_grid() {
  SavingsOptions options;
  options.grid = {{seconds(10)}, {50, 200}, {{10, kNoByteLimit}, {100, kNoByteLimit}}};
  return options;
}

TEST(Savings, AHotKeyIsServedFromItsCopy) {
  const Trace trace = one_hot_key();
  const std::vector<Saving> all = savings(trace, small_grid(), 2, {});
  ASSERT_EQ(all.size(), 4u);
  // 500 accesses make it hot after 5 s, then every 10 s a read renews the copy.
  EXPECT_NEAR(all[0].requests_ratio, 0.1 * 55 / 60, 0.002);
  EXPECT_EQ(all[0].tally.refills, 5u);
  EXPECT_EQ(all[0].tally.promotions, 1u);
  EXPECT_EQ(all[0].hot_peak, 1u);
  EXPECT_EQ(all[0].tally.hits, all[1].tally.hits);
  EXPECT_EQ(all[2].tally.hits, 0u);  // never 200/s
}

TEST(Savings, AWrittenKeyIsNeverCopied) {
  const std::vector<Saving> all = savings(one_hot_key(Operation::kWrite), small_grid(), 1, {});
  EXPECT_EQ(all[0].tally.promotions, 0u);
  EXPECT_EQ(all[0].hot_peak, 0u);
}

TEST(Savings, TheSameWithAnyNumberOfThreads) {
  const Trace trace = one_hot_key();
  SavingsOptions options = small_grid();
  options.grid.windows = {seconds(1), seconds(5), seconds(10)};
  const std::vector<Saving> one = savings(trace, options, 1, {});
  const std::vector<Saving> four = savings(trace, options, 4, {});
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].tally.hits, four[i].tally.hits);
    EXPECT_EQ(one[i].setting.window, four[i].setting.window);
  }
}

TEST(Grid, FitsTheTrace) {
  const SavingsGrid grid = grid_for(one_hot_key());
  EXPECT_THAT(grid.windows, ::testing::ElementsAre(seconds(2), seconds(10)));
  EXPECT_EQ(grid.hot_qps.front(), 1);  // ten accesses in ten seconds
  EXPECT_GE(grid.hot_qps.back(), 100);
  EXPECT_TRUE(std::is_sorted(grid.hot_qps.begin(), grid.hot_qps.end()));
  EXPECT_LE(grid.size(), kGridMax);
}

TEST(Accuracy, OneHotKeyIsNamedAtOnceAndOnce) {
  AccuracyOptions options;
  options.rule.hot = options.rule.warm = 50;
  const Accuracy measured = accuracy(one_hot_key(), options, {});
  ASSERT_EQ(measured.lives.size(), 1u);
  EXPECT_EQ(measured.lives[0].periods, 1u);
  EXPECT_NEAR(static_cast<double>(measured.lives[0].first_ns), 5e9, 0.2e9);
  EXPECT_EQ(measured.precision(), 1);
  EXPECT_EQ(measured.recall(), 1);
  EXPECT_EQ(measured.bounds_broken, 0u);
  ASSERT_EQ(measured.detection_ns.size(), 1u);
  EXPECT_LE(measured.detection_ns[0], 10'000'000);
  EXPECT_EQ(measured.moments.back().named, 1u);
}

// More keys than the recorder follows: some are proven late, and why is counted.
TEST(Accuracy, WhatWasNotNamedIsExplained) {
  TraceBuilder builder(mebibytes(64));
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < 60'000; ++i)
    builder.add({"k" + std::to_string(random() % 1500), 0, i * 1'000'000, Operation::kGet, {}});
  AccuracyOptions options;
  options.rule.hot = options.rule.warm = 1;
  options.burst = 0;
  options.recorder_bytes = 65'536;
  const Accuracy measured = accuracy(std::move(builder).finish({}).value(), options, {});
  const std::uint64_t missed = measured.truly - measured.named_truly;
  EXPECT_GT(measured.unproven, 0u);
  EXPECT_LE(measured.unproven, missed);
  EXPECT_GT(measured.unproven, missed * 9 / 10);
  EXPECT_GT(measured.proven, 0u);
  EXPECT_EQ(measured.precision(), 1) << "only a low bound is proof";
}

// A key with 100 accesses per second for 20 s, which then falls to 35 per second: it stays hot
// while its window is below the threshold, and that is neither wrong nor missed.
TEST(Accuracy, WhatHysteresisAddsIsToldApart) {
  TraceBuilder builder(mebibytes(64));
  for (std::int64_t ms = 0; ms < 60'000; ++ms) {
    const bool is_key = ms < 20'000 ? ms % 10 == 0 : ms % 28 == 0;
    builder.add({is_key ? "key" : "cold" + std::to_string(ms), 0, ms * 1'000'000, {}, 100});
  }
  AccuracyOptions options;
  options.rule.hot = options.rule.warm = 40;
  const Accuracy measured = accuracy(std::move(builder).finish({}).value(), options, {});
  EXPECT_EQ(measured.precision(), 1);
  EXPECT_EQ(measured.recall(), 1);
  EXPECT_EQ(measured.proven, measured.proven_truly);
  EXPECT_LE(measured.proven, measured.named_truly);
  EXPECT_NEAR(measured.lasting_part(), 0.54, 0.03) << "hot from 4 s on; above 40/s until 29 s";
  EXPECT_EQ(measured.lives.at(0).periods, 1u);
}

// Where no rate is set, the threshold follows the traffic.
TEST(Accuracy, TheAutomaticThresholdIsAShare) {
  AccuracyOptions options;
  detect::set_thresholds(options.rule, std::nullopt, std::nullopt);
  const Accuracy measured = accuracy(one_hot_key(), options, {});
  ASSERT_EQ(measured.lives.size(), 1u) << "100/s of 1000/s";
  EXPECT_EQ(measured.moments.back().threshold, 100);
  EXPECT_EQ(measured.precision(), 1);
  EXPECT_EQ(measured.recall(), 1);
}

TEST(Accuracy, AMostlyWrittenKeyIsWriteHot) {
  AccuracyOptions options;
  options.rule.hot = options.rule.warm = 50;
  const Accuracy measured = accuracy(one_hot_key(Operation::kWrite), options, {});
  ASSERT_EQ(measured.lives.size(), 1u);
  EXPECT_NEAR(static_cast<double>(measured.lives[0].write_hot_ns),
              static_cast<double>(measured.lives[0].hot_ns), 0.2e9);
}

TEST(Quantile, IsAValueOfTheSample) {
  const std::vector<std::int64_t> values{1, 2, 3, 4};
  EXPECT_EQ(quantile(values, 0.5), 2);
  EXPECT_EQ(quantile(values, 0.99), 4);
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

Saving saving(double hot_qps, std::size_t entries, double ratio) {
  Saving out;
  out.setting = {seconds(10), hot_qps, {entries, kNoByteLimit}};
  out.requests_ratio = ratio;
  out.hot_peak = ratio > 0 ? 5 : 0;
  return out;
}

// Another grid's savings: `ratio` of each setting.
Simulate all_save(double ratio) {
  return [ratio](const SavingsGrid& grid) {
    std::vector<Saving> out;
    for (const Nanos window : grid.windows) {
      for (const double hot_qps : grid.hot_qps) {
        out.push_back(saving(hot_qps, 0, ratio));
        out.back().setting = {window, hot_qps, grid.capacities.at(0)};
      }
    }
    return out;
  };
}

TEST(Recommend, TheSmallestThatIsNearlyAsGood) {
  const Recommendation advice =
      recommend({saving(10, 100, 0.30), saving(10, 1000, 0.50), saving(10, 4000, 0.51),
                 saving(20, 100, 0.29), saving(20, 1000, 0.49), saving(20, 4000, 0.49),
                 saving(50, 100, 0.10), saving(50, 1000, 0.10), saving(50, 4000, 0.10)},
                all_save(0.48));
  EXPECT_TRUE(advice.caching);
  EXPECT_EQ(advice.chosen.setting.capacity.entries_max, 1000u);
  EXPECT_EQ(advice.chosen.setting.hot_qps, 20);
  ASSERT_EQ(advice.reasons.size(), 3u);
  EXPECT_THAT(advice.reasons[0].why, HasSubstr("50/s saves only 10.0 %"));
  EXPECT_THAT(advice.reasons[1].why, HasSubstr("100 copies save at most 30.0 %"));
  EXPECT_THAT(advice.reasons[1].why, HasSubstr("4000 copies save 51.0 %"));
}

TEST(Recommend, NothingHotMeansNoCaching) {
  const Recommendation advice = recommend({saving(10, 100, 0), saving(20, 100, 0)}, {});
  EXPECT_FALSE(advice.caching);
  EXPECT_EQ(advice.chosen.setting.hot_qps, 10);
  EXPECT_THAT(advice.reasons[0].why, HasSubstr("nothing is hot"));
}

TEST(Recommend, ALittleIsNotWorthIt) {
  const Recommendation advice = recommend({saving(10, 100, 0.004), saving(20, 100, 0)}, {});
  EXPECT_FALSE(advice.caching);
  EXPECT_EQ(advice.chosen.setting.hot_qps, 20);
}

TEST(Recommend, TenAccessesInTheWindowAreTheLeastEvidence) {
  Saving shortest = saving(1, 100, 0.9);
  shortest.setting.window = seconds(2);
  const std::vector<Saving> all{shortest, saving(0.5, 100, 0.8), saving(1, 100, 0.3)};
  const Recommendation advice = recommend(all, all_save(0.3));
  EXPECT_EQ(advice.chosen.setting.window, seconds(10));
  EXPECT_EQ(advice.chosen.setting.hot_qps, 1);
  EXPECT_EQ(advice.best.requests_ratio, 0.3);
}

TEST(Recommend, NoBurstsOfThreeAccesses) {
  EXPECT_EQ(burst_part({seconds(10), 3.9, {}}), 0);
  EXPECT_EQ(burst_part({seconds(10), 4, {}}), detect::SelectorOptions{}.burst);
  const Recommendation few = recommend({saving(1, 100, 0.5)}, all_save(0.5));
  EXPECT_THAT(few.reasons.back().answer, HasSubstr("burst: 0%"));
  const Recommendation many = recommend({saving(10, 100, 0.5)}, all_save(0.5));
  EXPECT_EQ(many.reasons.size(), 3u);
}

TEST(Recommend, WithoutEvidenceThereIsNoCaching) {
  const Recommendation advice = recommend({saving(0.5, 100, 0.8)}, {});
  EXPECT_FALSE(advice.caching);
  EXPECT_THAT(advice.reasons[0].why, HasSubstr("fewer than 10 accesses"));
}

// Keys of 22/s: 20/s catches them only as long as they are no slower.
TEST(Recommend, NotOnAnEdge) {
  const auto simulate = [](const SavingsGrid& grid) {
    EXPECT_THAT(grid.hot_qps, ::testing::ElementsAre(12.5, 25));
    std::vector<Saving> out = all_save(0.5)(grid);
    out[1].requests_ratio = 0.1;
    return out;
  };
  const Recommendation advice = recommend({saving(10, 100, 0.5), saving(20, 100, 0.49)}, simulate);
  EXPECT_EQ(advice.chosen.setting.hot_qps, 10);
  EXPECT_EQ(advice.slower_ratio, 0.5);
  EXPECT_THAT(advice.reasons[0].why,
              HasSubstr("20/s saves 49.0 %, but with slower keys only 10.0 %"));
}

TEST(Recommend, AnEdgeThatCannotBeAvoidedIsTold) {
  const Recommendation advice = recommend({saving(10, 100, 0.5)}, all_save(0.2));
  EXPECT_TRUE(advice.caching);
  EXPECT_THAT(advice.reasons[0].why, HasSubstr("not with slower keys"));
  EXPECT_THAT(advice.reasons[0].why, HasSubstr("saves 20.0 % instead of 50.0 %"));
}

TEST(Facts, SharesAndBusiestKeys) {
  const TraceFacts facts = facts_of(one_hot_key());
  EXPECT_EQ(facts.gets, 60'000u);
  EXPECT_EQ(facts.busiest[0].accesses, 6000u);
  EXPECT_DOUBLE_EQ(facts.share_of(1), 0.1);
  EXPECT_NEAR(facts.rate, 1000, 1);
  EXPECT_DOUBLE_EQ(facts.share_curve.back().share, 1);
}

std::filesystem::path trace_path(const std::string& name) {
  if (const char* folder = std::getenv("HEATSINK_TRACES"))
    return std::filesystem::path(folder) / name;
  return std::filesystem::path(heatsink::kSourceDir) / ".." / "shared" / "traces" / name;
}

class RealTraces : public testing::Test {
 protected:
  void read(const std::string& name, double rate) {
    const std::filesystem::path path = trace_path(name);
    if (!std::filesystem::exists(path)) {
      GTEST_SKIP() << "no trace " << path.string() << "; set HEATSINK_TRACES to its folder";
    }
    auto source = ByteSource::open(path.string());
    ASSERT_TRUE(source.ok());
    ReadOptions options;
    options.timing.rate = rate;
    Result<Trace> trace = read_trace(**source, options, {});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    trace_ = std::move(trace).value();
  }
  Trace trace_;
};

TEST_F(RealTraces, Web07) {
  read("cache2k-web07.csv.zst", 1000);
  if (IsSkipped()) return;
  EXPECT_EQ(trace_.accesses.size(), 76'118u);
  EXPECT_EQ(trace_.keys.size(), 20'484u);
  const TraceFacts facts = facts_of(trace_);
  EXPECT_NEAR(facts.share_of(10), 0.1164, 0.0001);
  EXPECT_NEAR(facts.share_of(1000), 0.5186, 0.0001);
  SavingsOptions options;
  options.grid = grid_for(trace_);
  const Simulate simulate = [&](const SavingsGrid& grid) {
    options.grid = grid;
    return savings(trace_, options, 1, {});
  };
  const Recommendation advice = recommend(simulate(options.grid), simulate);
  EXPECT_TRUE(advice.caching);
  EXPECT_TRUE(has_evidence(advice.chosen.setting));
  EXPECT_GE(advice.chosen.requests_ratio, advice.best.requests_ratio * kGoodEnough);
  const std::vector<EarnedSaving> earned = earned_savings(trace_, budgets_for(trace_), {}, 2, {});
  const Budget budget = recommend_budget(earned);
  EXPECT_TRUE(budget.caching);
  // Even less the commands of its fills, which are not counted there.
  EXPECT_GT(budget.best.net_ratio, advice.best.requests_ratio);
  AccuracyOptions judged;
  judged.rule.hot = judged.rule.warm = 10;
  const Accuracy measured = accuracy(trace_, judged, {});
  EXPECT_GE(measured.precision(), 0.995);
  EXPECT_GE(measured.recall(), 0.995);
  EXPECT_GE(measured.top_precision(), 0.995);
  EXPECT_EQ(measured.bounds_broken, 0u);
}

TEST_F(RealTraces, CordaHasNothingHot) {
  read("corda-vaultservice.csv.zst", 10'000);
  if (IsSkipped()) return;
  SavingsOptions options;
  options.grid = grid_for(trace_);
  const Recommendation advice = recommend(savings(trace_, options, 1, {}), {});
  EXPECT_FALSE(advice.caching);
  EXPECT_EQ(advice.best.hot_peak, 0u);
  EXPECT_FALSE(recommend_budget(earned_savings(trace_, budgets_for(trace_), {}, 2, {})).caching);
}

// At 20 000 requests/s copies save nearly as much after 10 s as in the rest of a minute, however
// much fills cost.
TEST_F(RealTraces, CopiesSaveSoon) {
  for (const char* name : {"scarab-recs.csv.zst", "cache2k-orm-busy.csv.zst"}) {
    read(name, 20'000);
    if (IsSkipped()) return;
    for (const double at_once : {1.0, 16.0}) {
      CopyRules rules;
      rules.at_once = at_once;
      const EarnedSaving saving = earned_savings(trace_, {{65'536}}, rules, 1, {}).front();
      const auto net = [&](std::size_t from, std::size_t to) {
        double spared = 0, requests = 0;
        for (std::size_t i = from; i < to; ++i) {
          const EarnedSpan& span = saving.spans[i];
          spared += static_cast<double>(span.hits) - static_cast<double>(span.fills);
          requests += static_cast<double>(span.requests);
        }
        return spared / requests;
      };
      EXPECT_GT(net(10, 30), 0.25) << name << ", " << at_once << " at once";
      EXPECT_GE(net(4, 6), 0.8 * net(10, 30)) << name << ", " << at_once << " at once";
    }
  }
}

}  // namespace
}  // namespace heatsink::replay
