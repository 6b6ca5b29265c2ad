// SPDX-License-Identifier: Apache-2.0
// What real shells do with the scripts: tests/manual.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/heatsink/manual/completions.h"

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const CompletionFacts kFacts{
    .commands =
        {{.name = "proxy",
          .summary = "Runs the user's proxy.",
          .flags = {{.name = "--config", .value = "FILE", .help = "It's a file"},
                    {.name = "--set", .value = kOptionValue, .help = "Set", .repeats = true},
                    {.name = "--mode", .value = "M", .choices = {"a", "b"}, .help = "M[1]"},
                    {.name = "--quiet", .help = "Say nothing"}}}},
    .options = {{"cache.level", "Level.", {"off", "key"}}, {"proxy.workers", "Threads.", {}}},
    .rule_options = {{"level", "Level.", {"off"}}},
    .version = "1.2.3"};

TEST(Completion, WordsOfOptions) {
  EXPECT_THAT(option_names(kFacts.options), ElementsAre("cache.level=", "proxy.workers="));
  EXPECT_THAT(option_values(kFacts.options), ElementsAre("cache.level=off", "cache.level=key"));
}

TEST(Completion, EachShellHasEachFlagWithItsValues) {
  const std::string bash = bash_completion(kFacts);
  EXPECT_THAT(bash, HasSubstr("flags='--config --set --mode --quiet'"));
  EXPECT_THAT(bash, HasSubstr("--config) kind=file ;;"));
  EXPECT_THAT(bash, HasSubstr("--mode) words='a b' ;;"));
  const std::string zsh = zsh_completion(kFacts);
  EXPECT_THAT(zsh, HasSubstr(R"('--config=[It'\''s a file]:FILE:_files')"));
  EXPECT_THAT(zsh, HasSubstr(R"('--mode=[M\[1\]]:M:(a b)')"));
  EXPECT_THAT(zsh, HasSubstr("'--quiet[Say nothing]'"));
  const std::string fish = fish_completion(kFacts);
  EXPECT_THAT(fish, HasSubstr(R"(-l config -r -F -d 'It\'s a file')"));
  EXPECT_THAT(fish, HasSubstr("-l mode -x -a 'a b' -d 'M[1]'"));
  EXPECT_THAT(fish, HasSubstr(R"(-a proxy -d 'Runs the user\'s proxy.')"));
}

}  // namespace
}  // namespace heatsink::app
