// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/live_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A proxy that remembers what it was asked to apply.
class LiveConfigurationTest : public testing::Test {
 protected:
  // `text`: of the file of --config; "": the proxy is started without one.
  void start(const std::string& text, ProxyFlags flags = {}) {
    if (!text.empty()) {
      path_ = testing::TempDir() + "live_configuration_" + std::to_string(getpid()) + ".yaml";
      write(text);
      flags.configuration.file = path_;
    }
    const Result<ConfigText> file = read_config_text(flags);
    ASSERT_TRUE(file.ok());
    const BuiltConfiguration built = build_configuration(flags, *file);
    ASSERT_THAT(built.faults, IsEmpty()) << built.faults.front().message;
    running_ = built.options;
    LiveTarget target;
    target.apply = [this](const policy::ProxyOptions& /*before*/,
                          const policy::ProxyOptions& next) -> Result<std::uint64_t> {
      if (!fails_with_.empty()) return Error{ErrorCode::kUnavailable, fails_with_};
      running_ = next;
      return ++generation_;
    };
    target.reload_files = [this](const policy::ProxyOptions& /*now*/) -> Status {
      ++reloaded_;
      return Unit{};
    };
    target.add_event = [this](report::Event::Config, std::string reason) {
      events_.push_back(std::move(reason));
    };
    target.now = [] { return WallTime(std::chrono::seconds(1'795'262'402)); };
    live_ = std::make_unique<LiveConfiguration>(flags, *file, LiveRules(), built, target);
  }
  void TearDown() override {
    if (!path_.empty()) static_cast<void>(std::remove(path_.c_str()));
  }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  ConfigAnswer apply(const std::string& text, bool dry_run = false, bool strict = false) {
    return live_->apply({text, "a.yaml", dry_run, strict}, "127.0.0.1:9");
  }
  ConfigAnswer add(const std::string& rule) {
    return live_->change_rules({rule, ""}, "127.0.0.1:9");
  }
  ConfigAnswer remove(const std::string& match) {
    return live_->change_rules({"", match}, "127.0.0.1:9");
  }
  std::vector<std::string> matches() const {
    std::vector<std::string> out;
    for (const policy::RuleOptions& rule : running_.rules) out.push_back(rule.match);
    return out;
  }

  std::string path_;
  policy::ProxyOptions running_;
  std::string fails_with_;
  std::uint64_t generation_ = 1;
  int reloaded_ = 0;
  std::vector<std::string> events_;
  std::unique_ptr<LiveConfiguration> live_;
};

TEST_F(LiveConfigurationTest, AnotherFileIsAppliedAsADifference) {
  start("");
  const ConfigAnswer answer = apply("cache.level: \"off\"\nrules:\n  - {match: a, level: ttl}\n");
  EXPECT_EQ(answer.outcome, ConfigOutcome::kApplied);
  EXPECT_EQ(answer.generation, 2U);
  EXPECT_EQ(running_.level, cache::Level::kOff);
  EXPECT_THAT(matches(), ElementsAre("a"));
  EXPECT_THAT(events_, ElementsAre("cache.level: key -> off (by the admin API, 127.0.0.1:9)",
                                   "rule a added: level=ttl (by the admin API, 127.0.0.1:9)"));
  EXPECT_THAT(answer.note, HasSubstr("started without --config"));
  EXPECT_EQ(apply("cache.level: \"off\"\nrules:\n  - {match: a, level: ttl}\n").outcome,
            ConfigOutcome::kNothing);
}

TEST_F(LiveConfigurationTest, AFaultyFileChangesNothingAndHasAllItsFaults) {
  start("cache.level: ttl\n");
  const ConfigAnswer answer =
      apply("cache:\n  level: blue\n  maximum-size: 0\nrules:\n  - {level: \"off\"}\n");
  EXPECT_EQ(answer.outcome, ConfigOutcome::kRefused);
  ASSERT_THAT(answer.faults, SizeIs(3));
  EXPECT_THAT(answer.faults[0].message, HasSubstr("a.yaml:2: cache.level"));
  EXPECT_THAT(answer.faults[1].message, HasSubstr("a.yaml:3: cache.maximum-size"));
  EXPECT_THAT(answer.faults[2].message, HasSubstr("a.yaml:5: rule 1"));
  EXPECT_EQ(running_.level, cache::Level::kTtl);
  EXPECT_EQ(generation_, 1U);
  EXPECT_THAT(events_, SizeIs(3));
}

TEST_F(LiveConfigurationTest, WhatTheProxyRefusesChangesNothing) {
  start("");
  fails_with_ = "proxy.tls-cert: no such file";
  EXPECT_EQ(apply("cache.level: ttl\n").outcome, ConfigOutcome::kRefused);
  EXPECT_EQ(live_->effective().options.level, cache::Level::kKey);
  fails_with_.clear();
  EXPECT_EQ(apply("cache.level: ttl\n").outcome, ConfigOutcome::kApplied);
}

TEST_F(LiveConfigurationTest, WhatNeedsARestartIsNamedAndTheRestApplied) {
  start("");
  const ConfigAnswer answer = apply("proxy.workers: 3\ncache.level: ttl\n");
  EXPECT_EQ(answer.outcome, ConfigOutcome::kApplied);
  ASSERT_THAT(answer.needs_restart, SizeIs(1));
  EXPECT_EQ(answer.needs_restart.front().name, "proxy.workers");
  EXPECT_EQ(running_.workers, 0);
  EXPECT_EQ(running_.level, cache::Level::kTtl);
  EXPECT_THAT(live_->effective().needs_restart, SizeIs(1));
}

TEST_F(LiveConfigurationTest, StrictlyNothingIsAppliedThen) {
  start("");
  const ConfigAnswer answer = apply("proxy.workers: 3\ncache.level: ttl\n", false, true);
  EXPECT_EQ(answer.outcome, ConfigOutcome::kRefused);
  EXPECT_THAT(answer.faults.front().message, HasSubstr("proxy.workers: 0 -> 3"));
  EXPECT_EQ(running_.level, cache::Level::kKey);
}

TEST_F(LiveConfigurationTest, ADryRunOnlySaysWhatWouldChange) {
  start("");
  const ConfigAnswer answer = apply("cache.level: ttl\n", true);
  EXPECT_EQ(answer.outcome, ConfigOutcome::kChecked);
  ASSERT_THAT(answer.changes, SizeIs(1));
  EXPECT_EQ(running_.level, cache::Level::kKey);
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(apply("cache.level: blue\n", true).outcome, ConfigOutcome::kRefused);
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(LiveConfigurationTest, FlagsKeepTheirPrecedence) {
  ProxyFlags flags;
  flags.configuration.assignments = {"cache.level=session"};
  flags.configuration.rules = {"match=b,level=off"};
  start("", flags);
  EXPECT_EQ(apply("cache.level: ttl\n").outcome, ConfigOutcome::kNothing);
  EXPECT_EQ(running_.level, cache::Level::kSession);
  apply("rules:\n  - {match: a}\n");
  EXPECT_THAT(matches(), ElementsAre("a", "b"));
}

TEST_F(LiveConfigurationTest, SighupReadsTheFileAgain) {
  start("cache.level: ttl\n");
  EXPECT_EQ(live_->reload().outcome, ConfigOutcome::kNothing);
  EXPECT_EQ(reloaded_, 1);
  write("cache.level: session\n");
  EXPECT_EQ(live_->reload().outcome, ConfigOutcome::kApplied);
  EXPECT_EQ(running_.level, cache::Level::kSession);
  EXPECT_THAT(events_, ElementsAre("cache.level: ttl -> session (by SIGHUP)"));
  static_cast<void>(std::remove(path_.c_str()));
  const ConfigAnswer gone = live_->reload();
  EXPECT_EQ(gone.outcome, ConfigOutcome::kRefused);
  EXPECT_THAT(gone.faults.front().message, HasSubstr(path_));
  EXPECT_EQ(running_.level, cache::Level::kSession);
}

TEST_F(LiveConfigurationTest, ARuleThatWasAddedSurvivesSighup) {
  start("rules:\n  - {match: a}\n");
  const ConfigAnswer answer = add("match=cart:*,level=off");
  EXPECT_EQ(answer.outcome, ConfigOutcome::kApplied);
  EXPECT_THAT(answer.note, HasSubstr(R"(- {match: "cart:*", level: "off"})"));
  write("rules:\n  - {match: b}\n");
  EXPECT_EQ(live_->reload().outcome, ConfigOutcome::kApplied);
  EXPECT_THAT(matches(), ElementsAre("b", "cart:*"));
  const auto rules = live_->effective().rules;
  EXPECT_EQ(rules.front().origin, path_ + ":2");
  EXPECT_EQ(rules.back().origin,
            "added live 2026-11-21T12:00:02.000Z by the admin API, 127.0.0.1:9");
  EXPECT_TRUE(rules.back().is_live);
}

TEST_F(LiveConfigurationTest, AnAddedRuleReplacesTheAddedOneWithItsMatch) {
  start("");
  add("match=a,level=off");
  add("match=a,level=ttl");
  EXPECT_THAT(matches(), ElementsAre("a"));
  EXPECT_EQ(running_.rules.front().level, cache::Level::kTtl);
  EXPECT_EQ(remove("a").outcome, ConfigOutcome::kApplied);
  EXPECT_THAT(matches(), IsEmpty());
}

TEST_F(LiveConfigurationTest, ARuleOfTheFileStaysRemoved) {
  start("rules:\n  - {match: a}\n  - {match: b}\n");
  const ConfigAnswer answer = remove("a");
  EXPECT_EQ(answer.outcome, ConfigOutcome::kApplied);
  EXPECT_THAT(answer.note, HasSubstr(path_ + ":2"));
  EXPECT_THAT(matches(), ElementsAre("b"));
  EXPECT_EQ(live_->reload().outcome, ConfigOutcome::kNothing);
  EXPECT_THAT(matches(), ElementsAre("b"));
  EXPECT_THAT(live_->effective().left_out, SizeIs(1));
  add("match=a,level=off");
  EXPECT_THAT(matches(), ElementsAre("b", "a"));
}

TEST_F(LiveConfigurationTest, ARuleIsTriedWithoutAChange) {
  start("rules:\n  - {match: a}\n");
  const ConfigAnswer added = live_->change_rules({"match=cart:*,level=off", "", true}, "me");
  EXPECT_EQ(added.outcome, ConfigOutcome::kChecked);
  ASSERT_THAT(added.changes, SizeIs(1));
  EXPECT_THAT(added.note, HasSubstr(R"(- {match: "cart:*", level: "off"})"));
  const ConfigAnswer removed = live_->change_rules({"", "a", true}, "me");
  EXPECT_EQ(removed.outcome, ConfigOutcome::kChecked);
  EXPECT_THAT(removed.note, HasSubstr(path_ + ":2"));
  EXPECT_EQ(live_->change_rules({"match=a,level=blue", "", true}, "me").outcome,
            ConfigOutcome::kRefused);
  EXPECT_THAT(matches(), ElementsAre("a"));
  EXPECT_EQ(generation_, 1U);
  EXPECT_THAT(events_, IsEmpty()) << "nobody has changed anything";
}

TEST_F(LiveConfigurationTest, AWrongRuleIsRefused) {
  start("");
  for (const char* rule : {"level=off", "match=a,level=blue", "match=a,nonsense=1",
                           "match=a,warm-qps=9,hot-qps=5", ""}) {
    if (*rule == 0) continue;
    EXPECT_EQ(add(rule).outcome, ConfigOutcome::kRefused) << rule;
  }
  EXPECT_THAT(matches(), IsEmpty());
  EXPECT_THAT(remove("none").faults.front().message, HasSubstr("no rule has the match 'none'"));
}

TEST_F(LiveConfigurationTest, ManyDifferencesAreSummedUp) {
  start("");
  std::string text = "rules:\n";
  for (std::size_t i = 0; i < LiveConfiguration::kEventsPerChange + 7; ++i)
    text += "  - {match: k" + std::to_string(i) + ", level: \"off\"}\n";
  EXPECT_EQ(apply(text).outcome, ConfigOutcome::kApplied);
  ASSERT_THAT(events_, SizeIs(LiveConfiguration::kEventsPerChange + 1));
  EXPECT_THAT(events_.back(), HasSubstr("and 7 more differences"));
}

TEST_F(LiveConfigurationTest, CountsWhatItApplied) {
  start("");
  apply("cache.level: ttl\n");
  apply("cache.level: blue\n");
  std::vector<double> values;
  for (const MetricSample& sample : live_->samples()) values.push_back(sample.value);
  EXPECT_THAT(values, ElementsAre(1, 1, 2, 1'795'262'402));
}

}  // namespace
}  // namespace heatsink::app
