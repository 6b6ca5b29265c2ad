// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/key_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(const std::vector<Fact>& facts, std::string_view label) {
  const auto found = std::ranges::find(facts, label, &Fact::label);
  return found == facts.end() ? "(not there)" : found->text;
}

TEST(KeyFacts, SayWhatIsKnown) {
  const HotkeysView view = sample_answer();
  const std::vector<Fact> facts = key_facts(view.keys[0], view);
  EXPECT_EQ(text_of(facts, "state"), "hot, with a local copy (level key); for 3m12s");
  EXPECT_EQ(text_of(facts, "rate"), "21.0k/s ±12; 49.9 % of all accesses; over 10s");
  EXPECT_EQ(text_of(facts, "reads"), "20.8k/s: 20.6k/s hits (99.0 %), 210/s misses");
  EXPECT_EQ(text_of(facts, "commands"), "GET 99.0 %, SET 1.0 %");
  EXPECT_EQ(text_of(facts, "place"), "127.0.0.1:6379");
  EXPECT_EQ(text_of(facts, "value"), "this source does not report size, type and TTL");
  EXPECT_EQ(text_of(facts, "rule"), "(not there)");
}

TEST(KeyFacts, AKeyThatClientsKeepSaysByHowMany) {
  HotkeysView view = sample_answer();
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "kept by"), "(not there)");
  view.keys[0].kept_by = 40;
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "kept by"),
            "40 clients in caches of their own, whose reads are not seen here");
  view.keys[0].kept_by = 1;
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "kept by"),
            "1 client in a cache of its own, whose reads are not seen here");
}

// Each write ends its copy, so that there is often none at the moment of the question.
TEST(KeyFacts, AKeyWhoseCopiesAnswerIsNotSaidToHaveNone) {
  HotkeysView view = sample_answer();
  KeyView& key = view.keys[0];
  key.verdict = "write-hot";
  key.cached = false;
  key.cache_note = "no read since its last change";
  EXPECT_EQ(text_of(key_facts(key, view), "state"),
            "write-hot for 3m12s; local copies answer 99.0 % of its reads, but there is none right "
            "now: no read since its last change");
  key.hits_rate = key.hit_ratio = 0;
  EXPECT_EQ(text_of(key_facts(key, view), "state"),
            "write-hot, without a local copy: no read since its last change; for 3m12s");
}

// The first key has 990 reads and 10 writes a second, over 10 s.
HotkeysView mostly_read() {
  HotkeysView view = sample_answer();
  view.keys[0].window = std::chrono::seconds(10);
  view.keys[0].reads_rate = 990;
  view.keys[0].writes_rate = 10;
  return view;
}

// A key that became busy a moment ago: for half of the window its clients were not counted.
TEST(KeyFacts, CommandsArePartsOfThoseThatWereLookedAt) {
  HotkeysView view = mostly_read();
  KeyView& key = view.keys[0];
  key.commands = {{"GET", 4950, 5000}, {"SET", 45, 5100}};
  key.clients = {{"10.0.0.7", 2500, 5010}, {"10.0.0.8", 500, 5000}};
  for (int i = 0; i < 6; ++i) key.clients.push_back({"10.0.1." + std::to_string(i), 10, 5000});
  const std::vector<Fact> facts = key_facts(key, view);
  EXPECT_EQ(text_of(facts, "commands"), "GET 99.1 %, SET 0.9 %");
  EXPECT_THAT(text_of(facts, "clients"), StartsWith("10.0.0.7 50.0 %, 10.0.0.8 10.0 %, "))
      << "and others, which the full list does not name";
}

// The counts are lower bounds of a sample. What they leave open is no third command.
TEST(KeyFacts, SharesOfAllCommandsAreAHundredPercent) {
  HotkeysView view = mostly_read();
  KeyView& key = view.keys[0];
  key.commands = {{"GET", 9470, 430}, {"SET", 100, 330}};
  EXPECT_EQ(text_of(key_facts(key, view), "commands"), "GET 99.0 %, SET 1.0 %");
  key.clients = {{"10.0.0.7", 9600, 400}};
  EXPECT_EQ(text_of(key_facts(key, view), "clients"), "10.0.0.7 100 %");
  key.clients[0] = {"10.0.0.7", 100, 100};  // the others came after the names were used up
  EXPECT_EQ(text_of(key_facts(key, view), "clients"), "10.0.0.7 1.0 %");
  for (int i = 0; i < 6; ++i) key.commands.push_back({"C" + std::to_string(i), 0, 330});
  EXPECT_THAT(text_of(key_facts(key, view), "commands"), HasSubstr("GET 97.9 %"))
      << "a full list may lack some";
}

TEST(KeyFacts, OfASourceThatKnowsNoHitsAndNoShare) {
  HotkeysView view = sample_answer();
  KeyView& key = view.keys[0];
  key.hits_rate = key.misses_rate = key.hit_ratio = key.bytes_rate = key.share = kUnknown;
  const std::vector<Fact> facts = key_facts(key, view);
  EXPECT_EQ(text_of(facts, "reads"), "20.8k/s");
  EXPECT_EQ(text_of(facts, "bytes"), "(not there)");
  EXPECT_THAT(text_of(facts, "rate"), testing::Not(HasSubstr("accesses")));
}

TEST(KeyFacts, ValueAsFarAsItIsTold) {
  HotkeysView view = sample_answer();
  KeyView& key = view.keys[0];
  key.value_bytes = Bytes{118};
  EXPECT_EQ(text_of(key_facts(key, view), "value"), "longest reply 118 B");
  key.memory_bytes = Bytes{184};
  key.type = "hash";
  key.encoding = "listpack";
  key.ttl = std::chrono::seconds(72);
  EXPECT_EQ(text_of(key_facts(key, view), "value"),
            "longest reply 118 B, 184 B of memory on the server, type hash, encoding listpack, "
            "expires in 1m12s");
  key.type = "string";
  EXPECT_THAT(text_of(key_facts(key, view), "value"),
              HasSubstr("118 B, 184 B of memory on the server"));
}

TEST(KeyFacts, ALimitIsToldWhereThereIsOne) {
  HotkeysView view = sample_answer();
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "limit"), "(not there)");
  view.keys[0].limit = "5/s per key";
  view.keys[0].limited_rate = 1200;
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "limit"), "5/s per key; 1.2k/s held back");
}

TEST(KeyFacts, AShortWindowIsNotNone) {
  HotkeysView view = sample_answer();
  view.keys[0].window = Millis(420);
  EXPECT_THAT(text_of(key_facts(view.keys[0], view), "rate"), EndsWith("; over 0.42s"));
}

TEST(KeyFacts, PlaceInACluster) {
  HotkeysView view = sample_answer();
  view.cluster = true;
  view.keys[0].node = "10.0.0.1:6379";
  view.keys[0].raw_name = "foo";
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "place"), "10.0.0.1:6379, slot 12182");
  view.keys[0].slot = 5;
  EXPECT_THAT(text_of(key_facts(view.keys[0], view), "place"), EndsWith("slot 5"));
  view.keys[0].slot.reset();
  view.keys[0].name_truncated = true;
  EXPECT_EQ(slot_of(view.keys[0]), std::nullopt) << "a slot is of the whole name";
}

TEST(KeyFacts, AdviceIsOnTheKeyAndItsNode) {
  HotkeysView view = sample_answer();
  const advice::Advice advice = advice_on(view.keys[0], view);
  EXPECT_EQ(advice.remedies.front().relief, advice::ReliefKind::kCoherentCopies);
  EXPECT_NEAR(advice.remedies.front().effect.node_removed, 20'790.0 / 42'110, 0.01);
  view.nodes = {view.node};
  view.nodes[0].upstream = view.keys[0].node = "10.0.0.1:6379";
  view.nodes[0].requests_rate = 84'220;
  EXPECT_NEAR(advice_on(view.keys[0], view).remedies.front().effect.node_removed, 20'790.0 / 84'220,
              0.01);
}

TEST(KeyFacts, WhatIsNotKnownIsNotClaimed) {
  const HotkeysView view = sample_answer();
  bool said = false;
  for (const Fact& fact : advice_facts(view.keys[0], view))
    said = said || fact.text == "replica reads: it is not known here whether its node has replicas";
  EXPECT_TRUE(said);
}

TEST(KeyFacts, AdviceSaysWhatIsInForceAndNothingTwice) {
  const HotkeysView view = sample_answer();
  const std::vector<Fact> facts = advice_facts(view.keys[0], view);
  EXPECT_THAT(text_of(facts, "done"), HasSubstr("local copies: they answer 99.0 % of its reads"));
  EXPECT_EQ(text_of(facts, "advice"), "(not there)") << "the first that helps says it";
  EXPECT_THAT(text_of(advice_facts(view.keys[2], view), "done"), "(not there)");
}

TEST(KeyFacts, ACounterIsAdvisedByItsCommands) {
  HotkeysView view = sample_answer();
  view.node.workers = 2;
  const auto gathered = [&] {
    const advice::Advice advice = advice_on(view.keys[2], view);
    return *std::ranges::find(advice.remedies, advice::ReliefKind::kGatheredWrites,
                              &advice::Remedy::relief);
  };
  EXPECT_TRUE(gathered().helps);
  EXPECT_EQ(gathered().lines.back(), "    coalesce: 2ms");
  view.keys[2].rule = "counter:*";
  EXPECT_EQ(gathered().lines[2], "  - match: \"counter:*\"");
  view.node.redacted = true;
  view.keys[2].rule.clear();
  EXPECT_TRUE(gathered().lines.empty()) << "what is shown is not its name";
  view.keys[2].commands = {{"HINCRBY", 25'000}, {"GET", 10'000}};
  EXPECT_FALSE(gathered().helps);
  view.keys[2].coalesce = Millis(2);
  EXPECT_TRUE(gathered().done);
}

TEST(KeyFacts, WhatHotMeansIsSaid) {
  HotkeysView view = sample_answer();
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "hot means"), "(not there)");
  view.hot_means = "at least 3000/s (detection.hot-qps)";
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "hot means"), view.hot_means);
  view.keys[0].rule = "product:*";
  EXPECT_EQ(text_of(key_facts(view.keys[0], view), "hot means"), "(not there)")
      << "its rule says it";
}

TEST(KeyFacts, TheLimitIsTheNodesThreshold) {
  HotkeysView view = sample_answer();
  view.node.dimension = "requests";
  view.node.hot = 1234;
  const std::vector<Fact> facts = advice_facts(view.keys[3], view);
  EXPECT_TRUE(std::ranges::any_of(
      facts, [](const Fact& fact) { return fact.text.find("at 1234/s") != std::string::npos; }));
}

}  // namespace
}  // namespace heatsink::app
