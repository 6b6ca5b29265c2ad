// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "heatsink/base/option_print.h"

namespace heatsink {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConfigFile : public ::testing::Test {
 protected:
  ConfigFile() {
    const auto nanos = [](Nanos n) { return static_cast<double>(n.count()); };
    set.add({"detection.window",
             &window,
             "Window.",
             nanos(std::chrono::seconds(1)),
             nanos(std::chrono::hours(1)),
             {}});
    set.add({"detection.hot-qps", &hot_qps, "Threshold.", 1, 1e9, {}});
    set.add({"cache.enabled", &enabled, "Cache.", 0, 0, {}});
    set.add({"cache.rule.prefix", &prefix, "Prefix.", 0, 0, {}});
    set.add({"workers", &workers, "Threads.", 0, 64, {}});
  }

  std::vector<std::string> apply(std::string_view text) {
    const std::string before = to_yaml(set);
    std::vector<std::string> messages;
    for (const Error& fault : apply_config_text(text, "heatsink.yaml", set)) {
      messages.push_back(fault.message);
    }
    if (messages.empty()) return messages;
    EXPECT_EQ(to_yaml(set), before) << "a faulty file must change nothing";
    return messages;
  }

  Nanos window = std::chrono::seconds(10);
  double hot_qps = 3000;
  bool enabled = true;
  std::string prefix = "p";
  std::int64_t workers = 0;
  OptionSet set;
};

TEST_F(ConfigFile, ReadsGroupsDotsAndBoth) {
  EXPECT_THAT(apply("# a comment\n"
                    "workers: 4\n"
                    "detection:\n"
                    "  window: 30s\n"
                    "detection.hot-qps: 500\n"
                    "cache: {enabled: no, rule.prefix: 'user:'}\n"),
              IsEmpty());
  EXPECT_EQ(workers, 4);
  EXPECT_EQ(window, std::chrono::seconds(30));
  EXPECT_EQ(hot_qps, 500);
  EXPECT_FALSE(enabled);
  EXPECT_EQ(prefix, "user:");
}

TEST_F(ConfigFile, WhatIsNotNamedKeepsItsValue) {
  EXPECT_THAT(apply(""), IsEmpty());
  EXPECT_THAT(apply("# nothing but a comment\n"), IsEmpty());
  EXPECT_THAT(apply("---\n"), IsEmpty());
  EXPECT_THAT(apply("detection:\n  # window: 1s\ncache:\n  enabled: off\n"), IsEmpty());
  EXPECT_EQ(window, std::chrono::seconds(10));
  EXPECT_FALSE(enabled);
}

TEST_F(ConfigFile, WrongValueNamesFileLineFixBoundsAndDefault) {
  EXPECT_THAT(apply("workers: 1\n\ndetection:\n  window: 5\n"),
              ElementsAre("heatsink.yaml:4: detection.window is '5': "
                          "write a number and us, ms, s, m or h, as in 250ms "
                          "(bounds 1s .. 1h, default 10s)"));
}

TEST_F(ConfigFile, AllFaultsAreToldInOrder) {
  EXPECT_THAT(
      apply("workers: 65\n"
            "detection:\n"
            "  windw: 1s\n"
            "  hot-qps: many\n"
            "frobnicate: {a: [1, {b: c}]}\n"
            "cache:\n"
            "  enabled: perhaps\n"
            "  enabled: no\n"),
      ElementsAre(
          HasSubstr(":1: workers is '65': write 64 or less (bounds 0 .. 64, default 0)"),
          HasSubstr(":3: unknown option 'detection.windw': did you mean 'detection.window'?"),
          HasSubstr(":4: detection.hot-qps is 'many'"), HasSubstr(":5: unknown group 'frobnicate'"),
          HasSubstr(":7: cache.enabled is 'perhaps'"),
          HasSubstr(":8: 'cache.enabled' is set twice (first on line 7): keep one")));
}

TEST_F(ConfigFile, GoodLinesOfAFaultyFileHaveNoEffect) {
  EXPECT_THAT(apply("workers: 4\ncache.enabled: no\nworker: 5\n"), ElementsAre(HasSubstr(":3: ")));
  EXPECT_EQ(workers, 0);
  EXPECT_TRUE(enabled);
}

TEST_F(ConfigFile, TwiceIsTwiceHoweverItIsWritten) {
  EXPECT_THAT(apply("detection.window: 2s\ndetection: {window: 3s}\n"),
              ElementsAre(HasSubstr(":2: 'detection.window' is set twice (first on line 1)")));
  EXPECT_THAT(apply("cache: {enabled: no}\ncache: {enabled: yes}\n"),
              ElementsAre(HasSubstr(":2: 'cache' is set twice (first on line 1)")));
}

TEST_F(ConfigFile, WrongStructureSaysWhatIsDue) {
  EXPECT_THAT(
      apply("detection.window: [1s, 2s]\nworkers: 4\n"),
      ElementsAre(HasSubstr(":1: detection.window must be one value, not a list (default 10s)")));
  EXPECT_THAT(apply("detection:\n  - window: 1s\n"),
              ElementsAre(HasSubstr(":2: detection must be a group of options, not a list")));
  EXPECT_THAT(apply("detection: 5\n"),
              ElementsAre(HasSubstr(":1: detection is a group of options")));
  EXPECT_THAT(
      apply("workers:\n  count: 4\n"),
      ElementsAre(HasSubstr(":2: workers must be one value, not a group of options (default 0)")));
  EXPECT_THAT(apply("detectoin:\n  window: 1s\n"),
              ElementsAre(HasSubstr(":1: unknown group 'detectoin': did you mean 'detection'?")));
  EXPECT_THAT(apply("workers:\ndetection: {window: 1s}\n"),
              ElementsAre(HasSubstr(
                  ":1: workers has no value: write one, or remove the line for the default 0")));
  EXPECT_THAT(apply("workrs:\n"), ElementsAre(HasSubstr(":1: unknown option 'workrs'")));
  EXPECT_THAT(apply("- workers: 4\n"),
              ElementsAre(HasSubstr(":1: the file must have options, not a list")));
  EXPECT_THAT(apply("just words\n"), ElementsAre(HasSubstr(":1: 'just words' is not an option")));
  EXPECT_THAT(apply("? [a, b]\n: 1\nworkers: 65\n"),
              ElementsAre(HasSubstr(":1: the name of an option must be a plain word"),
                          HasSubstr(":3: workers is '65'")));
  EXPECT_THAT(apply("? {a: b}\n: {c: d}\nworkers: 65\n"),
              ElementsAre(HasSubstr(":1: the name of an option must be a plain word"),
                          HasSubstr(":3: workers is '65'")));
}

TEST_F(ConfigFile, NotYamlSaysWhere) {
  EXPECT_THAT(apply("workers: 4\ndetection: {window: 1s\n"), ElementsAre(HasSubstr("not YAML: ")));
  EXPECT_THAT(apply("workers: 99\ncache: : 4\n"),
              ElementsAre(HasSubstr(":1: workers is '99'"), HasSubstr(":2: not YAML: ")));
  EXPECT_THAT(apply("workers: 4\n---\nworkers: 5\n"),
              ElementsAre(HasSubstr("a second YAML document")));
}

TEST_F(ConfigFile, BinaryFilesAreRefusedByLine) {
  using namespace std::string_view_literals;
  EXPECT_THAT(apply("workers: 4\n\x04workers: 5\n"),
              ElementsAre(HasSubstr(":2: the control character '\\x04'")));
  EXPECT_THAT(apply("\x7f"
                    "ELF\0\0"sv),
              ElementsAre(HasSubstr(":1: the control character '\\x7f'")));
}

TEST_F(ConfigFile, AliasesAndTagsAreRefused) {
  EXPECT_THAT(apply("workers: &n 4\ndetection.hot-qps: *n\ncache: {enabled: no}\n"),
              ElementsAre(HasSubstr(":2: aliases (*name) are not supported")));
  EXPECT_THAT(apply("workers: !!int 4\n"), ElementsAre(HasSubstr(":1: tags (")));
}

TEST_F(ConfigFile, AliasBombIsRefusedAtItsFirstAlias) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last + "]\n";
  }
  EXPECT_THAT(apply(bomb + "workers: *a39\n").back(), HasSubstr("aliases"));
}

TEST_F(ConfigFile, DeepNestingEndsInAFault) {
  EXPECT_THAT(apply(std::string(100'000, '[')),
              ElementsAre(HasSubstr("must be a plain word"), HasSubstr("nested too deeply")));
  std::string maps = "workers: ";
  for (int i = 0; i < 1000; ++i) maps += "{a: ";
  EXPECT_THAT(apply(maps).back(), HasSubstr("nested too deeply"));
}

TEST_F(ConfigFile, FaultsAreBounded) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "unknown" + std::to_string(i) + ": 1\n";
  const auto faults = apply(text);
  EXPECT_EQ(faults.size(), kConfigFaultsMax);
  EXPECT_THAT(faults.back(), HasSubstr("stopped after 50 faults"));
  EXPECT_LT(apply(std::string(500'000, 'a') + ": 1\n")[0].size(), 300u);
}

TEST_F(ConfigFile, PrintedSetReadsBackTheSame) {
  for (const char* text :
       {"", "null", "yes", "~", "#x", "a: b", "- a", "'", "\"", "\\", "1", "*a", "é", " a "}) {
    prefix = text;
    const std::string yaml = to_yaml(set);
    prefix = "other";
    EXPECT_THAT(apply(yaml), IsEmpty()) << text;
    EXPECT_EQ(prefix, text);
    EXPECT_EQ(to_yaml(set), yaml);
  }
}

TEST_F(ConfigFile, FilesAreReadOrTheReasonIsTold) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("heatsink_config_" + std::to_string(getpid()));
  std::filesystem::create_directory(directory);
  const std::string good = directory / "good.yaml";
  const std::string large = directory / "large.yaml";
  std::ofstream(good) << "workers: 8\n";
  std::ofstream(large) << std::string(kConfigFileBytesMax + 1, '#');
  EXPECT_THAT(load_config_file(good, set), IsEmpty());
  EXPECT_EQ(workers, 8);
  EXPECT_THAT(load_config_file(large, set).at(0).message, HasSubstr("larger than 1mb"));
  EXPECT_THAT(load_config_file(directory / "none.yaml", set).at(0).message,
              HasSubstr("none.yaml': No such file or directory"));
  EXPECT_THAT(load_config_file(directory, set).at(0).message, HasSubstr("Is a directory"));
  std::filesystem::remove_all(directory);
}

TEST_F(ConfigFile, LargestFileOfAllIsStillRead) {
  std::string text = "workers: 8\n";
  text.resize(kConfigFileBytesMax, '#');
  EXPECT_THAT(apply(text), IsEmpty());
  EXPECT_EQ(workers, 8);
  EXPECT_THAT(apply(text + "#"), ElementsAre(HasSubstr("larger than 1mb")));
}

}  // namespace
}  // namespace heatsink
