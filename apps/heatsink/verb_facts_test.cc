// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/verb_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "apps/heatsink/verb_for_test.h"

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const CommandFacts& verb_of(const std::vector<CommandFacts>& all, const std::string& name) {
  return *std::ranges::find(all, name, &CommandFacts::name);
}

const FlagFacts& flag_of(const CommandFacts& command, const std::string& name) {
  return *std::ranges::find(command.flags, name, &FlagFacts::name);
}

TEST(VerbFacts, EveryVerbTellsItsFlags) {
  const std::vector<CommandFacts> all = facts_of(verbs());
  ASSERT_EQ(all.size(), verbs().size());
  for (const CommandFacts& command : all)
    EXPECT_EQ(flag_of(command, "--help").short_name, "-h") << command.name;
}

TEST(VerbFacts, AFlagIsReadInParts) {
  const std::vector<CommandFacts> all = facts_of(verbs());
  const CommandFacts& top = verb_of(all, "top");
  EXPECT_THAT(flag_of(top, "--replies").choices, ElementsAre("sampled", "all"));
  EXPECT_EQ(flag_of(top, "--replies").value, "WHICH");
  EXPECT_EQ(flag_of(top, "--admin").value, "HOST:PORT");
  EXPECT_EQ(flag_of(top, "--admin").default_text, "127.0.0.1:6390");
  EXPECT_EQ(flag_of(top, "--limit").bounds, "in 0 .. 100000");
  EXPECT_EQ(flag_of(top, "--port").bounds, "in [1 - 65535]");
  EXPECT_TRUE(flag_of(top, "--port").repeats);
  EXPECT_EQ(flag_of(top, "--once").value, "") << "a switch has no value";
  EXPECT_TRUE(flag_of(top, "--record").takes_file());
  const CommandFacts& config = verb_of(all, "config");
  EXPECT_TRUE(verb_of(config.commands, "check").arguments.at(0).takes_file());
  EXPECT_TRUE(verb_of(config.commands, "check").arguments.at(0).required);
}

TEST(VerbFacts, AfterwardsTheVerbsRunAgain) {
  facts_of(verbs());
  EXPECT_THAT(run_verb("config", {"print"}).out, HasSubstr("listen:"));
}

TEST(Completion, OfTheProgram) {
  const Outcome bash = run_verb("completion", {"bash"});
  EXPECT_EQ(bash.code, kDone);
  EXPECT_THAT(bash.err, IsEmpty());
  EXPECT_THAT(bash.out, HasSubstr(" cache.level=session "));
  EXPECT_THAT(bash.out, HasSubstr(" cache.maximum-bytes= "));
  EXPECT_EQ(run_verb("completion", {"tcsh"}).code, kMisused);
}

TEST(Health, NobodyAnswers) {
  const Outcome outcome = run_verb("health", {"--admin", "127.0.0.1:1", "--timeout", "1s"});
  EXPECT_EQ(outcome.code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("heatsink health: 127.0.0.1:1: "));
}

}  // namespace
}  // namespace heatsink::app
