// SPDX-License-Identifier: Apache-2.0
// One client that wants everything to be hot, or the keys of others not to be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kFlood = 100'000;
constexpr std::size_t kListed = 4096;  // what a summary holds of them
constexpr std::size_t kOthers = 50;

std::string other(std::size_t i) { return "shop:" + std::to_string(i); }

// The keys of others at `others_rate`, and the flood's, each at `flood_rate`, of which a summary
// lists some, other ones each time.
Summary flooded(Nanos at, std::size_t round, double others_rate, double flood_rate) {
  std::vector<Traffic> keys;
  for (std::size_t i = 0; i < kOthers; ++i) keys.push_back({other(i), others_rate});
  for (std::size_t i = 0; i < kListed - kOthers; ++i) {
    const std::size_t number = (round * kListed + i) % kFlood;
    keys.push_back({"flood:" + std::to_string(number), flood_rate});
  }
  Summary summary = window_of(at, keys);
  summary.absent_max = static_cast<std::uint64_t>(flood_rate * 10);
  return summary;
}

std::size_t others_hot(const Selector& selector) {
  std::size_t hot = 0;
  for (std::size_t i = 0; i < kOthers; ++i) {
    if (temperature_of(selector, other(i)) == Temperature::kHot) ++hot;
  }
  return hot;
}

std::size_t hot_in(const Selector& selector) {
  return static_cast<std::size_t>(std::count_if(
      selector.verdicts().begin(), selector.verdicts().end(),
      [](const Verdict& verdict) { return verdict.temperature == Temperature::kHot; }));
}

TEST(SelectorAttack, AFloodAtTheThresholdTakesNoPlaceThatIsTaken) {
  Selector selector({.top_n = kOthers, .keys_max = 1000});
  selector.update(flooded(seconds(0), 0, 3000, 0.1));
  ASSERT_EQ(others_hot(selector), kOthers);
  for (std::size_t round = 1; round < 40; ++round) {
    // Just above them, but not clearly.
    selector.update(flooded(milliseconds(round * 500), round, 3000, 3700));
    ASSERT_EQ(others_hot(selector), kOthers);
    ASSERT_EQ(hot_in(selector), kOthers);
    ASSERT_LE(selector.verdicts().size(), 1000u);
  }
}

// The lists are full of the flood's keys, and those of others are not among them any more.
TEST(SelectorAttack, BeingPushedOffTheListIsNoProofOfBeingCold) {
  Selector selector({.top_n = kOthers, .keys_max = 1000});
  selector.update(flooded(seconds(0), 0, 3000, 0.1));
  for (std::size_t round = 1; round < 25; ++round) {
    Summary summary = flooded(milliseconds(round * 500), round, 3000, 3700);
    std::erase_if(summary.keys, [](const KeyCount& key) { return key.key.starts_with("shop"); });
    selector.update(summary);
    ASSERT_EQ(others_hot(selector), kOthers);
  }
  // The flood is over, and so they must show themselves.
  Summary nothing = flooded(seconds(60), 0, 0.1, 0.1);
  nothing.keys.clear();
  selector.update(nothing);
  EXPECT_EQ(others_hot(selector), 0u);
}

// Of an unlisted key only absent_max is known, so it gets no hysteresis, and a key that is clearly
// busier than this bound displaces it.
TEST(SelectorAttack, AnUnlistedKeyIsHeldByProofOnly) {
  const auto unlisted = [](Nanos at, double absent_rate, const std::vector<Traffic>& keys) {
    Summary summary = window_of(at, keys);
    summary.absent_max = static_cast<std::uint64_t>(absent_rate * 10);
    return summary;
  };
  Selector selector({.top_n = 2});
  selector.update(window_of(seconds(0), {{"a", 5000}, {"b", 9000}}));
  EXPECT_THAT(told(selector.update(unlisted(seconds(20), 3000, {{"b", 9000}, {"c", 3700}}))),
              testing::IsEmpty());
  EXPECT_THAT(noticed(selector.update(unlisted(seconds(21), 3000, {{"b", 9000}, {"c", 3800}}))),
              testing::ElementsAre("a hot > cold", "c warm > hot"));
  EXPECT_THAT(told(selector.update(unlisted(seconds(41), 2999, {{"b", 9000}}))),
              testing::ElementsAre("-c"));
  // It is not the least hot of two only because it is not listed.
  selector.update(unlisted(seconds(60), 0, {{"a", 5000}, {"b", 4000}}));
  EXPECT_THAT(noticed(selector.update(unlisted(seconds(80), 9000, {{"b", 4000}, {"c", 6000}}))),
              testing::UnorderedElementsAre("b hot > warm", "c cold > hot"));
}

// Clearly busier keys become hot even in a flood, but no more than top_n of them.
TEST(SelectorAttack, AFloodThatIsClearlyBusierFillsNoMoreThanThePlaces) {
  Selector selector({.top_n = 100, .keys_max = 1000});
  for (std::size_t round = 0; round < 25; ++round) {
    selector.update(flooded(seconds(round), round, 3000, 9000));
    ASSERT_LE(hot_in(selector), 100u);
    ASSERT_LE(selector.verdicts().size(), 1000u);
  }
}

// The attacker came first and holds all places: a key that is clearly busier gets one.
TEST(SelectorAttack, ABusyKeyGetsThroughAFlood) {
  Selector selector({.top_n = 100, .keys_max = 1000});
  Summary summary = flooded(seconds(0), 0, 0.1, 3000);
  selector.update(summary);
  ASSERT_EQ(hot_in(selector), 100u);
  for (int second = 1; second <= 11; ++second) {
    summary = flooded(seconds(second), 0, 0.1, 3000);
    KeyCount busy = key_named("busy");
    busy.low = busy.high = busy.reads = 40'000;
    summary.keys.insert(summary.keys.begin(), busy);
    selector.update(summary);
  }
  EXPECT_EQ(temperature_of(selector, "busy"), Temperature::kHot);
  EXPECT_EQ(hot_in(selector), 100u);
}

// Bursts cost the attacker a quarter of the evidence, not the others their places.
TEST(SelectorAttack, BurstsTakeOnlyFreePlaces) {
  Selector selector({.top_n = kOthers, .keys_max = 1000});
  selector.update(flooded(seconds(0), 0, 3000, 0.1));
  Summary quiet = flooded(seconds(20), 1, 3000, 0.1);
  quiet.absent_max = 0;
  selector.update(quiet);
  selector.update(flooded(milliseconds(20'050), 2, 3000, 2999));
  EXPECT_EQ(others_hot(selector), kOthers);
  EXPECT_EQ(hot_in(selector), kOthers);
  // With places to spare they do get in: that is what a burst is for.
  Selector roomy({.top_n = 1000, .keys_max = 1000});
  roomy.update(quiet);
  roomy.update(flooded(milliseconds(20'050), 2, 3000, 2999));
  EXPECT_EQ(hot_in(roomy), 1000u);
}

// Names cannot be made to hurt: any bytes, one hash, a reason on one line.
TEST(SelectorAttack, NamesAreOnlyBytes) {
  Rule evil;
  evil.match = "\n\x1b[31m*";
  Selector selector({.rules = RuleSet::make(Rule{}, {evil}).value()});
  selector.update(
      window_of(seconds(0), {{"\n\x1b[31mkey", 4000}, {std::string(1024, '\0'), 4000}}));
  ASSERT_EQ(selector.verdicts().size(), 2u);
  for (const Verdict& verdict : selector.verdicts()) {
    EXPECT_THAT(verdict.reason, testing::Not(testing::HasSubstr("\n")));
    EXPECT_THAT(verdict.reason, testing::Not(testing::HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace heatsink::detect
