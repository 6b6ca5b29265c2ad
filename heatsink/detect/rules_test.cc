// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "heatsink/detect/key_pattern.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

Rule rule(std::string match, double hot = 3000) {
  Rule made;
  made.match = std::move(match);
  made.hot = hot;
  made.warm = hot / 6;
  return made;
}

RuleSet set_of(std::vector<Rule> rules) { return RuleSet::make(Rule{}, std::move(rules)).value(); }

std::string found(const RuleSet& rules, std::string_view key) { return rules.of(key).name; }

TEST(Rules, TheDefaultIsForAllKeys) {
  const RuleSet rules;
  EXPECT_EQ(rules.of("any").name, "");
  EXPECT_EQ(rules.of("").hot, 3000);
  ASSERT_EQ(rules.measures().size(), 1u);
  EXPECT_EQ(rules.measures()[0], Measure{});
}

TEST(Rules, LongestWins) {
  const RuleSet rules = set_of({rule("user:*"), rule("user:1*"), rule("user:12"), rule("*:cart"),
                                rule("user:*:cart"), rule("u*")});
  EXPECT_EQ(found(rules, "user:7"), "user:*");
  EXPECT_EQ(found(rules, "user:17"), "user:1*");
  EXPECT_EQ(found(rules, "user:12"), "user:12");
  EXPECT_EQ(found(rules, "user:123"), "user:1*");
  EXPECT_EQ(found(rules, "user:7:cart"), "user:*:cart");  // 10 bytes
  EXPECT_EQ(found(rules, "shop:7:cart"), "*:cart");
  EXPECT_EQ(found(rules, "u:cart"), "*:cart");
  EXPECT_EQ(found(rules, "uu"), "u*");
  EXPECT_EQ(found(rules, "other"), "");
  EXPECT_EQ(found(rules, "user:"), "user:*");
  EXPECT_EQ(found(rules, "user"), "u*");
}

TEST(Rules, TiesExactThenPrefixThenGlobThenTheLaterOne) {
  const auto name = [](Rule made, std::string called) {
    made.name = std::move(called);
    return made;
  };
  const RuleSet rules =
      set_of({name(rule("ab*"), "prefix"), name(rule("a*b"), "glob"), name(rule("?ab"), "first"),
              name(rule("ab?"), "second"), name(rule("a\\b*"), "prefix again"),
              name(rule("aab"), "exact"), name(rule("aab"), "exact again")});
  EXPECT_EQ(found(rules, "abb"), "prefix again");  // all of two bytes
  EXPECT_EQ(found(rules, "xab"), "first");
  EXPECT_EQ(found(rules, "axb"), "glob");
  EXPECT_EQ(found(rules, "aab"), "exact again");
  const RuleSet globs = set_of({name(rule("a?c"), "first"), name(rule("?ac"), "second")});
  EXPECT_EQ(found(globs, "aac"), "second");
  EXPECT_EQ(found(set_of({name(rule("*"), "mine")}), "any"), "mine");
}

TEST(Rules, OfATruncatedNameOnlyPrefixesAreKnown) {
  const RuleSet rules = set_of({rule("user:*"), rule("user:1"), rule("*1")});
  EXPECT_EQ(rules.of("user:1", false).name, "user:*");
  EXPECT_EQ(rules.of("x1", false).name, "");
}

TEST(Rules, MeasuresAreCountedOnce) {
  Rule bytes = rule("big:*", 1e6);
  bytes.measure.dimension = Dimension::kBytes;
  Rule fast = rule("fast:*");
  fast.measure.window = seconds(1);
  const RuleSet rules = set_of({bytes, rule("x"), fast, bytes});
  ASSERT_EQ(rules.measures().size(), 3u);
  EXPECT_EQ(rules.measures()[0], Measure{});
  EXPECT_EQ(rules.measures()[1], bytes.measure);
  EXPECT_EQ(rules.measures()[2], fast.measure);
  EXPECT_EQ(rules.measure_of(rules.of("fast:1")), 2u);
  EXPECT_EQ(rules.measure_of(rules.of("x")), 0u);
}

TEST(Rules, KnowTheirPlaces) {
  const RuleSet rules = set_of({rule("a"), rule("b*"), rule("b")});
  EXPECT_EQ(rules.index_of(rules.of("other")), 0u);
  EXPECT_EQ(rules.index_of(rules.of("a")), 1u);
  EXPECT_EQ(rules.index_of(rules.of("bc")), 2u);
  EXPECT_EQ(rules.index_of(rules.of("b")), 3u);
}

// Below the floor a key is cold under every rule of the measure, even one that it may stay warm by
// in a whole window that begins with a slot (nine tenths of it are covered).
TEST(Rules, FloorIsTheLeastThatMatters) {
  Rule low = rule("a", 300);
  low.warm = 10;
  Rule bytes = rule("big:*", 1e6);
  bytes.warm = 1e6;
  bytes.measure.dimension = Dimension::kBytes;
  const RuleSet rules = set_of({low, bytes});
  EXPECT_EQ(rules.floor(0, 0.25), 72u);       // 10 x 0.8 x 9 s
  EXPECT_EQ(rules.floor(1, 0), 7'200'000u);   // 1e6 x 0.8 x 9 s
  EXPECT_EQ(rules.floor(1, 0.25), 562'500u);  // 1e6 / 16 x 9 s: the beginning of a burst
  EXPECT_EQ(RuleSet().floor(0, 0.25), 1687u);
  low.warm = 0;
  EXPECT_EQ(set_of({low}).floor(0, 0.25), 1u);  // every key is warm
}

TEST(Rules, ShardsAreToldTheirPart) {
  Rule confirmed = rule("c", 40);
  confirmed.confirm_windows = 2;
  confirmed.measure.window = std::chrono::seconds(1);
  const RuleSet rules = set_of({rule("a", 400), confirmed});
  EXPECT_EQ(rules.shard_counts(0, 0.25, 4).urgent_count, 250u) << "25 % of 400/s x 10 s, by four";
  EXPECT_EQ(rules.shard_counts(0, 0, 4).urgent_count, 1000u) << "without bursts";
  EXPECT_EQ(rules.shard_counts(1, 0.25, 4).urgent_count, 10u) << "none where windows are confirmed";
  const RuleSet::ShardCounts counts = RuleSet().shard_counts(0, 0.25, 2);
  EXPECT_EQ(counts.floor, 843u) << "half of 1687";
  EXPECT_EQ(counts.worth_tracking, 210u) << "a quarter of that";
  EXPECT_EQ(RuleSet().shard_counts(0, 0.25, 1'000'000).floor, 1u);
}

std::string fault(const Rule& faulty) {
  const Result<RuleSet> made = RuleSet::make(Rule{}, {rule("ok"), faulty});
  return made.ok() ? "" : made.error().message;
}

TEST(Rules, WhatCannotBeIsToldByNameAndField) {
  EXPECT_EQ(fault(rule("fine")), "");
  EXPECT_THAT(fault(rule("")), HasSubstr("match is empty"));
  EXPECT_THAT(fault(rule(std::string(1025, 'a'))), HasSubstr("1025 bytes: write at most 1024"));
  EXPECT_EQ(fault(rule(std::string(1024, 'a'))), "");
  Rule turned = rule("user:*", 100);
  turned.warm = 200;
  EXPECT_EQ(fault(turned), "rule \"user:*\": hot 100 is below warm 200: raise hot or lower warm");
  turned.warm = 100;
  EXPECT_EQ(fault(turned), "");
  const auto with = [](auto change) {
    Rule changed = rule("x");
    change(changed);
    return changed;
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(fault(with([](Rule& r) { r.hot = kNan; })), HasSubstr("hot must"));
  EXPECT_THAT(fault(with([](Rule& r) { r.hot = r.warm = 0; })), HasSubstr("hot must"));
  EXPECT_THAT(fault(with([](Rule& r) { r.warm = -1; })), HasSubstr("warm must"));
  EXPECT_THAT(fault(with([](Rule& r) { r.hot_share = 1.01; })), HasSubstr("hot-share"));
  EXPECT_THAT(fault(with([](Rule& r) { r.demote_ratio = kNan; })), HasSubstr("demote-ratio"));
  EXPECT_THAT(fault(with([](Rule& r) { r.confirm_windows = 0; })), HasSubstr("confirm-windows"));
  EXPECT_THAT(fault(with([](Rule& r) { r.measure.window = Nanos(0); })), HasSubstr("window"));
  EXPECT_THAT(fault(with([](Rule& r) { r.minimum_residence = Nanos(-1); })),
              HasSubstr("residence"));
  EXPECT_THAT(fault(with([](Rule& r) { r.write_hot_ratio = kNan; })), HasSubstr("write-hot"));
  Rule base;
  base.hot = -1;
  EXPECT_THAT(RuleSet::make(base, {}).error().message, HasSubstr("the default rule: hot must"));
}

TEST(Rules, TooManyAreRefused) {
  EXPECT_TRUE(RuleSet::make(Rule{}, std::vector<Rule>(kRulesMax, rule("a"))).ok());
  EXPECT_FALSE(RuleSet::make(Rule{}, std::vector<Rule>(kRulesMax + 1, rule("a"))).ok());
  std::vector<Rule> measures;
  for (int i = 1; i <= 4; ++i) {
    measures.push_back(rule("k" + std::to_string(i)));
    measures.back().measure.window = seconds(i);
  }
  const Result<RuleSet> five = RuleSet::make(Rule{}, measures);
  ASSERT_FALSE(five.ok());
  EXPECT_THAT(five.error().message,
              HasSubstr("5 different pairs of window and dimension: use at most 4"));
  measures.pop_back();
  EXPECT_TRUE(RuleSet::make(Rule{}, measures).ok());
}

// The index against the sentence that it keeps: of those that match the one with most literal bytes
// ...
RC_GTEST_PROP(Rules, TheIndexAgreesWithTheWords, ()) {
  const auto word = [](const std::string& letters) {
    return rc::gen::resize(
        6, rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(letters))));
  };
  const auto patterns =
      *rc::gen::resize(30, rc::gen::container<std::vector<std::string>>(word("aaab*?")));
  std::vector<Rule> given;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    given.push_back(rule(patterns[i]));
    given.back().name = std::to_string(i);
  }
  const RuleSet rules = set_of(given);
  for (const std::string& key : *rc::gen::container<std::vector<std::string>>(word("aab"))) {
    const Rule* best = nullptr;
    for (const Rule& candidate : given) {
      const KeyPattern pattern(candidate.match);
      if (!pattern.matches(key)) continue;
      if (best != nullptr) {
        const KeyPattern before(best->match);
        if (pattern.literal_bytes() < before.literal_bytes()) continue;
        if (pattern.literal_bytes() == before.literal_bytes() && pattern.kind() < before.kind())
          continue;
      }
      best = &candidate;
    }
    RC_ASSERT(found(rules, key) == (best == nullptr ? "" : best->name));
  }
}

}  // namespace
}  // namespace heatsink::detect
