// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "apps/heatsink/verb_for_test.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/version.h"

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> seen;  // what the verb `top` below was called with

int fake_top(int argc, char** argv) {
  seen.assign(argv, argv + argc);
  EXPECT_EQ(argv[argc], nullptr);
  return 7;
}
int fake_proxy(int, char**) { return 8; }

Outcome run(std::vector<std::string> words) {
  const Verb rows[] = {{"proxy", "Serves.", fake_proxy}, {"top", "Shows.", fake_top}};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::ostringstream out;
  std::ostringstream err;
  const int code = dispatch(rows, static_cast<int>(words.size()), argv.data(), out, err);
  return {code, out.str(), err.str()};
}

TEST(Dispatch, HandsTheRestToTheVerb) {
  EXPECT_EQ(run({"heatsink", "top", "--once", "x"}).code, 7);
  EXPECT_THAT(seen, ElementsAre("heatsink top", "--once", "x"));
  EXPECT_EQ(run({"heatsink", "proxy"}).code, 8);
}

TEST(Dispatch, HelpIsOneScreenWithASentencePerVerb) {
  const Outcome help = run({"heatsink", "--help"});
  EXPECT_EQ(help.code, kDone);
  EXPECT_THAT(help.out, HasSubstr("  proxy    Serves.\n  top      Shows.\n"));
  EXPECT_EQ(help.err, "");
}

TEST(Dispatch, NothingSaidShowsHelpAsAnError) {
  const Outcome nothing = run({"heatsink"});
  EXPECT_EQ(nothing.code, kMisused);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("usage: heatsink VERB"));
}

TEST(Dispatch, UnknownVerbGivesTheNearest) {
  const Outcome wrong = run({"heatsink", "tpo"});
  EXPECT_EQ(wrong.code, kMisused);
  EXPECT_EQ(wrong.err,
            "heatsink: unknown verb 'tpo': did you mean 'top'? ('heatsink --help' lists them)\n");
  EXPECT_EQ(run({"heatsink", "--frobnicate"}).code, kMisused);
}

TEST(Dispatch, HelpOfAVerbIsThatOfTheVerb) {
  const Outcome help = run({"heatsink", "help", "top"});
  EXPECT_EQ(help.code, run({"heatsink", "top", "--help"}).code);
  EXPECT_THAT(help.out, Not(HasSubstr("usage: heatsink VERB")));
  EXPECT_THAT(run({"heatsink", "help", "tpo"}).err, HasSubstr("did you mean 'top'?"));
}

TEST(Dispatch, VersionIsTheProjects) {
  EXPECT_EQ(run({"heatsink", "--version"}).out, "heatsink " + std::string(version()) + "\n");
}

TEST(Dispatch, EveryVerbOfTheBinaryHasItsSentence) {
  for (const Verb& verb : verbs()) {
    EXPECT_FALSE(verb.name.empty());
    ASSERT_FALSE(verb.help.empty()) << verb.name;
    EXPECT_EQ(verb.help.back(), '.') << verb.name;
    EXPECT_LE(verb.help.size(), 89u) << verb.name << ": help must fit a line of 100 columns";
    EXPECT_NE(verb.run, nullptr) << verb.name;
  }
}

}  // namespace
}  // namespace heatsink::app
