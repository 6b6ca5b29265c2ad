// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/option_list.h"

namespace heatsink::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Configuration {
  Configuration() { options.describe(rows); }
  explicit Configuration(std::initializer_list<const char*> words) : Configuration() {
    for (const std::string word : words) {
      if (word.starts_with("match=")) {
        EXPECT_THAT(rows.find_list("rules")->add_item(word, "--rule"), IsEmpty()) << word;
      } else if (word.starts_with("key=")) {
        EXPECT_THAT(rows.find_list("warming")->add_item(word, "--warming"), IsEmpty()) << word;
      } else {
        EXPECT_TRUE(rows.set_assignment(word).ok()) << word;
      }
    }
  }
  Configuration(const Configuration&) = delete;

  ProxyOptions options;
  OptionSet rows;
};

std::vector<std::string> changes(std::initializer_list<const char*> before,
                                 std::initializer_list<const char*> after,
                                 const ShownName& shown = {}) {
  std::vector<std::string> out;
  for (const OptionChange& change :
       difference(Configuration(before).options, Configuration(after).options, shown))
    out.push_back(change_text(change));
  return out;
}

TEST(Difference, OfTheSameThereIsNone) {
  EXPECT_THAT(changes({}, {}), IsEmpty());
  EXPECT_THAT(
      changes({"cache.level=off", "match=a,level=off"}, {"match=a,level=off", "cache.level=off"}),
      IsEmpty());
}

TEST(Difference, NamesEachOptionWithItsValues) {
  EXPECT_THAT(changes({"cache.level=off"}, {"cache.max-staleness=2s", "detection.hot-qps=50"}),
              ElementsAre("detection.hot-qps: auto -> 50", "cache.level: off -> key",
                          "cache.max-staleness: 1s -> 2s"));
}

TEST(Difference, SaysWhatNeedsARestart) {
  EXPECT_THAT(changes({"proxy.workers=2", "log.level=debug"}, {"proxy.workers=4"}),
              ElementsAre("proxy.workers: 2 -> 4 (needs a restart)", "log.level: debug -> info"));
}

TEST(Difference, ShowsNoSecret) {
  EXPECT_THAT(changes({"admin.token=aaaaaaaaaaaaaaaaaaaa"}, {"admin.token=bbbbbbbbbbbbbbbbbbbb"}),
              ElementsAre("admin.token changed"));
  EXPECT_THAT(changes({}, {"admin.token=bbbbbbbbbbbbbbbbbbbb"}),
              ElementsAre("admin.token: nothing -> ***"));
  EXPECT_THAT(changes({"upstream.url=redis://u:old@h:1"}, {"upstream.url=redis://u:new@h:1"}),
              ElementsAre("upstream.url changed"));
}

TEST(Difference, OfTheServerOnlyThePasswordChangesLive) {
  const auto needs_restart = [](const char* before, const char* after) {
    const std::string option = "upstream.url=";
    const auto all = difference(Configuration({(option + before).c_str()}).options,
                                Configuration({(option + after).c_str()}).options);
    return all.size() == 1 && all.front().needs_restart;
  };
  EXPECT_FALSE(needs_restart("redis://u:a@h:1", "redis://u:b@h:1"));
  EXPECT_FALSE(needs_restart("redis://h:1", "redis://:b@h:1"));
  EXPECT_TRUE(needs_restart("redis://u:a@h:1", "redis://v:a@h:1"));
  EXPECT_TRUE(needs_restart("redis://u:a@h:1", "redis://u:a@h:2"));
  EXPECT_TRUE(needs_restart("redis://u:a@h:1", "rediss://u:a@h:1"));
}

TEST(Difference, ARuleIsKnownByItsMatch) {
  EXPECT_THAT(changes({"match=a*,level=off", "match=b,hot-qps=5"},
                      {"match=c*", "match=a*,level=ttl,window=1s"}),
              ElementsAre("rule c* added: nothing", "rule a*: level=off -> window=1s,level=ttl",
                          "rule b removed (hot-qps=5)"));
}

TEST(Difference, RulesWithTheSameMatchAreComparedInTheirOrder) {
  EXPECT_THAT(changes({"match=a*,level=off", "match=a*,level=ttl"},
                      {"match=a*,level=off", "match=a*,level=session"}),
              ElementsAre("rule a*: level=ttl -> level=session"));
  EXPECT_THAT(changes({"match=a*,level=off", "match=a*,level=ttl"}, {"match=a*,level=off"}),
              ElementsAre("rule a* removed (level=ttl)"));
}

TEST(Difference, AnotherOrderIsADifference) {
  EXPECT_THAT(changes({"match=a*c", "match=*ac"}, {"match=*ac", "match=a*c"}),
              ElementsAre("rules: one order -> another order"));
}

TEST(Difference, NamesOfSingleKeysAreShownAsAsked) {
  const ShownName shown = [](std::string_view) { return std::string("key#1"); };
  EXPECT_THAT(changes({}, {"match=secret,level=off", "match=cart:*,level=off"}, shown),
              ElementsAre("rule key#1 added: level=off", "rule cart:* added: level=off"));
  EXPECT_THAT(changes({}, {"key=secret"}, shown), ElementsAre("warming 1 added: key=key#1"));
}

TEST(Difference, WarmingsAreComparedOneByOne) {
  EXPECT_THAT(changes({"key=a"}, {"key=b", "key=c"}),
              ElementsAre("warming 1: key=a -> key=b", "warming 2 added: key=c"));
}

TEST(WithoutRestarts, KeepsWhatIsRunning) {
  const Configuration running({"proxy.workers=2", "upstream.url=redis://u:a@h:1", "match=a"});
  const Configuration wanted(
      {"proxy.workers=4", "upstream.url=redis://u:a@h:2", "cache.level=off", "match=b"});
  const ProxyOptions next = without_restarts(running.options, wanted.options);
  EXPECT_EQ(next.workers, 2);
  EXPECT_EQ(next.upstream, "redis://u:a@h:1");
  EXPECT_EQ(next.level, cache::Level::kOff);
  ASSERT_EQ(next.rules.size(), 1U);
  EXPECT_EQ(next.rules.front().match, "b");
}

TEST(WithoutRestarts, TakesAnotherPassword) {
  const Configuration running({"upstream.url=redis://u:a@h:1"});
  const Configuration wanted({"upstream.url=redis://u:b@h:1"});
  EXPECT_EQ(without_restarts(running.options, wanted.options).upstream, "redis://u:b@h:1");
}

TEST(RuleText, CanBeReadBack) {
  for (const char* text :
       {"match=a", "match=\"a,\"\"b\",level=off", "match=cart:*,hot-qps=50,limit.rate=5/s"}) {
    const Configuration one({text});
    EXPECT_EQ(rule_text(one.options.rules.front()), text);
  }
}

TEST(RuleText, StandsInAFileAsAnItem) {
  const Configuration one({"match=\"a,\"\"b\\c\",level=off"});
  EXPECT_EQ(rule_line(one.options.rules.front()), R"({match: "a,\"b\\c", level: "off"})");
}

}  // namespace
}  // namespace heatsink::policy
