// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/heatsink/watch/instance_for_test.h"

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;

Instance one(const std::string& verdict) {
  Instance out = instance_with("a:1", {{"x", 100, 100}}, 0);
  return verdict.empty() ? out : with_verdict(out, "x", verdict);
}

std::vector<std::string> words_of(const WatchEvents& events) {
  std::vector<std::string> out;
  for (const report::Event& event : events.all()) out.emplace_back(word_for(event));
  return out;
}

TEST(WatchEvents, KeysBecomeHotAndInstancesSilent) {
  WatchEvents events;
  events.note(picture_with({one(""), instance_with("b:1", {}, 0)}));
  EXPECT_THAT(words_of(events), ElementsAre());
  events.note(picture_with({one("hot"), instance_with("b:1", {}, 0)}));
  events.note(picture_with({one("hot"), silent_instance("b:1")}));
  EXPECT_THAT(words_of(events), ElementsAre("hot", "instance-silent"));
  EXPECT_EQ(events.all()[1].reason, "b:1 does not answer: timed out");
  EXPECT_EQ(events.all()[1].number, 2U);
}

TEST(WatchEvents, WhileOneIsSilentNoKeyCoolsDown) {
  WatchEvents events;
  events.note(picture_with({one("hot"), instance_with("b:1", {}, 0)}));
  events.note(picture_with({silent_instance("a:1"), instance_with("b:1", {}, 0)}));
  events.note(picture_with({one(""), instance_with("b:1", {}, 0)}));
  EXPECT_THAT(words_of(events), ElementsAre("hot", "instance-silent", "instance-answers", "cold"));
  EXPECT_EQ(events.all()[3].before, detect::Temperature::kHot);
}

// The limit of keys that no picture lists is 4096: the oldest ones are forgotten.
TEST(WatchEvents, WhileBoundsAreUnknownNoKeyCoolsDown) {
  WatchEvents events;
  events.note(picture_with({one("hot"), instance_with("b:1", {}, 0)}));
  events.note(picture_with({one(""), instance_with("b:1", {}, heat::kNotKnown)}));
  EXPECT_THAT(words_of(events), ElementsAre("hot"));
  events.note(picture_with({one(""), instance_with("b:1", {}, 0)}));
  EXPECT_THAT(words_of(events), ElementsAre("hot", "cold"));
}

TEST(WatchEvents, WhileOneIsSilentTheKeysHaveALimit) {
  WatchEvents events;
  std::uint64_t hot = 0;
  for (int round = 0; round < 50; ++round) {
    Instance busy = instance_with("a:1", {}, 0);
    for (int key = 0; key < 100; ++key, ++hot) {
      const std::string name = std::to_string(hot);
      busy.counts->items.push_back({.identity = {.name = name}, .rate = 1, .rate_high = 1});
      busy = with_verdict(busy, name, "hot");
    }
    events.note(picture_with({busy, silent_instance("b:1")}));
  }
  events.note(picture_with({instance_with("a:1", {}, 0), silent_instance("b:1")}));
  EXPECT_EQ(events.all().back().number, hot + 1) << "and that one is silent";
  events.note(picture_with({instance_with("a:1", {}, 0), instance_with("b:1", {}, 0)}));
  EXPECT_EQ(events.all().back().number, hot + 2 + 4096) << "those that are known are cold";
  const std::vector<report::Event> all = events.all();
  const auto names = [&all](const std::string& name) {
    return std::ranges::count(all, name, [](const auto& event) { return event.key; }) > 0;
  };
  EXPECT_FALSE(names("0"));
}

TEST(WatchEvents, HasALimit) {
  WatchEvents events;
  for (std::size_t i = 0; i < WatchEvents::kEventsMax; ++i)
    events.note(picture_with({one(i % 2 == 0 ? "hot" : "warm")}));
  events.note(picture_with({silent_instance("a:1")}));
  EXPECT_EQ(events.all().size(), WatchEvents::kEventsMax);
  EXPECT_EQ(events.all().back().number, WatchEvents::kEventsMax + 1);
}

}  // namespace
}  // namespace heatsink::app
