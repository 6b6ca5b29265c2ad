// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/live_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LiveJson, AChangeIsShownLineByLine) {
  const ConfigAnswer answer{
      .outcome = ConfigOutcome::kApplied,
      .generation = 3,
      .changes = {{policy::OptionChange::Kind::kSet, "cache.level", "key", "off", false}},
      .needs_restart = {{policy::OptionChange::Kind::kSet, "proxy.workers", "1", "2", true}},
      .note = "it holds until a restart"};
  const Result<ChangeLines> lines = change_lines(change_json(answer));
  ASSERT_TRUE(lines.ok());
  EXPECT_FALSE(lines->is_refused);
  EXPECT_THAT(lines->lines, ElementsAre("applied:", "  cache.level: key -> off",
                                        "not applied: proxy.workers: 1 -> 2 (needs a restart)",
                                        "note: it holds until a restart"));
}

TEST(LiveJson, ARefusalHasItsFaults) {
  const ConfigAnswer answer{.outcome = ConfigOutcome::kRefused,
                            .faults = {{ErrorCode::kInvalidArgument, "a.yaml:2: wrong\x1b"}}};
  const Result<ChangeLines> lines = change_lines(change_json(answer));
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(lines->is_refused);
  EXPECT_THAT(lines->lines,
              ElementsAre("refused, and nothing was changed:", HasSubstr("a.yaml:2: wrong")));
}

TEST(LiveJson, ShowsNoSecretAndHidesSingleKeys) {
  LiveConfiguration::Effective now;
  now.options.admin_token = "a-secret-of-twenty-bytes";
  now.options.upstream = "redis://u:hush@h:1";
  BuiltConfiguration::Rule rule{{}, "a.yaml:3", false};
  rule.options.match = "user:42";
  rule.options.level = cache::Level::kOff;
  now.rules = {rule};
  const std::string json = config_json(now, [](std::string_view) { return std::string("key#1"); });
  for (const char* secret : {"a-secret", "hush", "user:42"})
    EXPECT_THAT(json, Not(HasSubstr(secret)));
  const Result<std::vector<std::string>> lines = rule_lines(json);
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(*lines, ElementsAre("match=key#1,level=off  (a.yaml:3)"));
}

TEST(LiveJson, OtherAnswersAreNone) {
  for (const char* text : {"", "[]", "ok", "{"}) {
    EXPECT_FALSE(change_lines(text).ok()) << text;
    EXPECT_FALSE(rule_lines(text).ok()) << text;
  }
}

}  // namespace
}  // namespace heatsink::app
