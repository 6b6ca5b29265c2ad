// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "apps/heatsink/verb_for_test.h"
#include "heatsink/base/version.h"

namespace heatsink::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Man, ListsAPageForEachVerb) {
  const std::string pages = run_verb("man", {}).out;
  EXPECT_THAT(pages, StartsWith("heatsink.1\n"));
  for (const Verb& verb : verbs())
    EXPECT_THAT(pages, HasSubstr("\nheatsink-" + std::string(verb.name) + ".1\n"));
  EXPECT_THAT(pages, HasSubstr("\nheatsink.yaml.5\nheatsink-metrics.7\n"));
}

TEST(Man, APageHasManyNames) {
  const std::string page = run_verb("man", {"proxy"}).out;
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-listen\\fR"));
  EXPECT_EQ(run_verb("man", {"heatsink-proxy"}).out, page);
  EXPECT_EQ(run_verb("man", {"heatsink-proxy.1"}).out, page);
  EXPECT_THAT(run_verb("man", {"heatsink.yaml"}).out, HasSubstr("\\fBcache.level\\fR"));
  const Outcome unknown = run_verb("man", {"pears"});
  EXPECT_EQ(unknown.code, kMisused);
  EXPECT_THAT(unknown.err, HasSubstr("there is no page 'pears'"));
}

TEST(Man, TheDateIsThatOfTheSources) {
  EXPECT_THAT(run_verb("man", {"top"}).out, HasSubstr("\"1\" \"\" \"heatsink "));
  setenv("SOURCE_DATE_EPOCH", "1795609200", 1);
  EXPECT_THAT(run_verb("man", {"top"}).out, HasSubstr("\"2026-11-25\" \"heatsink "));
  setenv("SOURCE_DATE_EPOCH", "yesterday", 1);
  EXPECT_THAT(run_verb("man", {"top"}).out, Not(HasSubstr("yesterday")));
  unsetenv("SOURCE_DATE_EPOCH");
}

TEST(Man, AFolderGetsThemAll) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "heatsink-man-folder";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(run_verb("man", {"--folder", folder.string()}).code, kDone);
  EXPECT_GT(std::filesystem::file_size(folder / "heatsink.yaml.5"), 10'000u);
  std::filesystem::remove_all(folder);
  const Outcome lost = run_verb("man", {"--folder", folder.string()});
  EXPECT_EQ(lost.code, kFailed);
  EXPECT_THAT(lost.err, HasSubstr("cannot write"));
}

}  // namespace
}  // namespace heatsink::app
