// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/option_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/config_file.h"
#include "heatsink/base/option_print.h"

namespace heatsink {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Rule {
  std::string match;
  std::optional<Nanos> window;
  std::optional<Share> share;
  std::int64_t level = 1;

  void describe(OptionSet& set) {
    set.add({.name = "match", .target = &match, .help = "Which keys."});
    set.add({"window", &window, "Length.", 1e8, 3.6e12});
    set.add({"share", &share, "Part.", 0, 1});
    set.add({"copy.level", &level, "Level.", 0, 9});
  }
};

class OptionLists : public ::testing::Test {
 protected:
  OptionLists() {
    set.add({"workers", &workers, "Threads.", 0, 64});
    set.add(std::make_unique<OptionListOf<Rule>>(
        OptionListRow{"rules", "rule", "Keys apart.", "match=user:*,window=1s"}, rules));
  }

  static std::vector<std::string> messages(const std::vector<Error>& faults) {
    std::vector<std::string> out;
    for (const Error& fault : faults) out.push_back(fault.message);
    return out;
  }
  std::vector<std::string> add(std::string_view text) {
    return messages(list().add_item(text, "--rule"));
  }
  std::vector<std::string> apply(std::string_view yaml) {
    return messages(apply_config_text(yaml, "h.yaml", set));
  }
  OptionList& list() { return *set.find_list("rules"); }

  std::int64_t workers = 0;
  std::deque<Rule> rules;
  OptionSet set;
};

TEST_F(OptionLists, ItemsFromTextHaveTheirOwnValues) {
  EXPECT_THAT(add("match=user:*,window=1s,copy.level=3"), IsEmpty());
  EXPECT_THAT(add("share=2%"), IsEmpty());
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].match, "user:*");
  EXPECT_EQ(rules[0].window, Nanos(std::chrono::seconds(1)));
  EXPECT_EQ(rules[0].level, 3);
  EXPECT_FALSE(rules[0].share);
  EXPECT_EQ(rules[1].share, Share{0.02});
  EXPECT_EQ(rules[1].level, 1) << "the default, not what an item before it said";
  EXPECT_EQ(list().origin(1), "--rule");
}

TEST_F(OptionLists, OnlyQuotesMeanSomethingInAValue) {
  EXPECT_THAT(add(R"(match="a,b"",c\*",window=1s)"), IsEmpty());
  EXPECT_EQ(rules.back().match, R"(a,b",c\*)");
  EXPECT_THAT(add(R"(match=\[a"b\,window=1s)"), IsEmpty());
  EXPECT_EQ(rules.back().match, R"(\[a"b\)");
  EXPECT_THAT(add("match=a=b"), IsEmpty());
  EXPECT_EQ(rules.back().match, "a=b");
  EXPECT_THAT(add("match=\"\",window=1s"), IsEmpty());
  EXPECT_EQ(rules.back().match, "");
  EXPECT_THAT(add("match=\"ab"), ElementsAre(HasSubstr("the quotes of 'match' do not match")));
  EXPECT_THAT(add("match=\"ab\"c,window=1s"), ElementsAre(HasSubstr("the quotes of 'match'")));
}

TEST_F(OptionLists, FaultyTextTellsAllAndAddsNothing) {
  EXPECT_THAT(add("match=a,window=5,windw=1s,match=b"),
              ElementsAre("rule 1: window is '5': write a number and us, ms, s, m or h, "
                          "as in 250ms, or inherit "
                          "(bounds 100ms .. 1h | inherit, default inherit)",
                          "rule 1: unknown option 'windw': did you mean 'window'?",
                          "'match' is set twice: keep one"));
  for (const char* nothing : {"", "match", "match=a,", ",", "a,b"}) {
    EXPECT_THAT(add(nothing),
                ElementsAre(HasSubstr(
                    "has no '=': write name=value,name=value, as in match=user:*,window=1s")))
        << nothing;
  }
  EXPECT_THAT(add("match=" + std::string(5000, 'a')),
              ElementsAre(HasSubstr("write 4096 bytes or less")));
  EXPECT_THAT(add(std::string(20'000, 'a')), ElementsAre(HasSubstr("longer than 16384 bytes")));
  EXPECT_TRUE(rules.empty());
  EXPECT_EQ(list().size(), 0u);
}

TEST_F(OptionLists, ListsAreNoSingleValue) {
  for (const char* assignment : {"rules=[]", "rules.match=a", "rules[0].match=a"}) {
    EXPECT_EQ(set.set_assignment(assignment).error().message,
              "rules is a list: in the configuration file write each rule below it, after '- '; "
              "on the command line use --rule 'match=user:*,window=1s'")
        << assignment;
  }
  EXPECT_EQ(set.set_assignment("rulse=1").error().message,
            "unknown option 'rulse': did you mean 'rules'?");
}

TEST_F(OptionLists, YamlSequencesOfMaps) {
  EXPECT_THAT(apply("workers: 2\n"
                    "rules:\n"
                    "  - match: \"user:*\"\n"
                    "    window: 1s\n"
                    "    copy: {level: 2}\n"
                    "  - {share: 5%, copy.level: 4, window: inherit}\n"
                    "  - {}\n"),
              IsEmpty());
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].match, "user:*");
  EXPECT_EQ(rules[0].level, 2);
  EXPECT_EQ(rules[1].share, Share{0.05});
  EXPECT_EQ(rules[1].level, 4);
  EXPECT_EQ(list().origin(1), "h.yaml:6");
  EXPECT_THAT(apply("rules:\n"), IsEmpty());
  EXPECT_THAT(apply("rules: []\n"), IsEmpty());
  EXPECT_EQ(rules.size(), 3u);
}

TEST_F(OptionLists, FaultsNameTheLineAndTheItem) {
  EXPECT_THAT(
      apply("rules:\n"
            "  - match: &x a\n"
            "    windw: 1s\n"
            "  - share: 200%\n"
            "    share: 2%\n"
            "    copy: [1]\n"
            "    match: {a: b}\n"
            "    frobnicate: {a: b}\n"
            "    window:\n"
            "  - match\n"
            "  - [1, 2]\n"
            "  -\n"
            "  - *x\n"
            "workers: 65\n"),
      ElementsAre(
          "h.yaml:3: rule 1: unknown option 'windw': did you mean 'window'?",
          HasSubstr("h.yaml:4: rule 2: share is '200%': write 100% or less (bounds 0% .. 100% | "),
          "h.yaml:5: rule 2: 'share' is set twice (first on line 4): keep one",
          HasSubstr("h.yaml:6: copy must be a group of options, not a list"),
          HasSubstr("h.yaml:7: rule 2: match must be one value, not a group of options"),
          HasSubstr("h.yaml:8: rule 2: unknown group 'frobnicate'"),
          "h.yaml:9: rule 2: window has no value: write one, "
          "or remove the line for the default inherit",
          HasSubstr(
              "h.yaml:10: a rule must be written as 'name: value' lines, the first one after"),
          HasSubstr("h.yaml:11: a rule must be written"), HasSubstr(": a rule must be written"),
          HasSubstr("h.yaml:13: aliases"), HasSubstr("h.yaml:14: workers is '65'")));
  EXPECT_TRUE(rules.empty()) << "all or nothing";
}

TEST_F(OptionLists, WrongShapesSayWhatIsDue) {
  EXPECT_THAT(apply("rules: {match: a}\n"),
              ElementsAre(HasSubstr(":1: rules is a list: in the configuration file write")));
  EXPECT_THAT(
      apply("rules: a\n"),
      ElementsAre(HasSubstr(":1: rules is a list: in the configuration file write each rule")));
  EXPECT_THAT(apply("rules.match: a\n"), ElementsAre(HasSubstr(":1: rules is a list")));
  EXPECT_THAT(apply("rulse: [{match: a}]\n"), ElementsAre(HasSubstr("did you mean 'rules'?")));
  EXPECT_THAT(apply("rules: []\nrules: []\n"), ElementsAre(HasSubstr("is set twice")));
}

TEST_F(OptionLists, ItemsBeforeAFaultyFileStay) {
  ASSERT_THAT(add("match=kept"), IsEmpty());
  EXPECT_THAT(apply("rules: [{match: a}, {match: b}]\nwork: 1\n"), ElementsAre(HasSubstr(":2: ")));
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].match, "kept");
}

TEST_F(OptionLists, ItemsHaveALimit) {
  std::string yaml = "rules:\n";
  for (std::size_t i = 0; i < OptionListRow::kItemsMax; ++i) yaml += "- match: a\n";
  EXPECT_THAT(apply(yaml), IsEmpty());
  EXPECT_EQ(rules.size(), OptionListRow::kItemsMax);
  EXPECT_THAT(add("match=a"), ElementsAre("rules has more than 1000 items: remove some"));
  EXPECT_THAT(apply("rules: [{match: a}, {match: b}, {windw: c}]\n"),
              ElementsAre("h.yaml:1: rules has more than 1000 items: remove some"));
  EXPECT_EQ(rules.size(), OptionListRow::kItemsMax);
}

TEST_F(OptionLists, PrintedListsReadBackTheSame) {
  EXPECT_THAT(to_yaml(set), HasSubstr("\n# Keys apart.\n# Each rule may have:\n"
                                      "#   match: Which keys. (default '')\n"));
  EXPECT_THAT(to_yaml(set), HasSubstr("\nrules: []\n"));
  ASSERT_THAT(add(R"(match="a,""b",share=7%)"), IsEmpty());
  ASSERT_THAT(add("window=250ms"), IsEmpty());
  const std::string yaml = to_yaml(set);
  EXPECT_THAT(yaml, HasSubstr("rules:\n"
                              "  - match: \"a,\\\"b\"\n"
                              "    window: inherit\n"
                              "    share: 7%\n"
                              "    copy.level: 1\n"
                              "  - match: \"\"\n"));
  list().truncate(0);
  EXPECT_TRUE(rules.empty());
  EXPECT_THAT(apply(yaml), IsEmpty());
  EXPECT_EQ(to_yaml(set), yaml);
}

TEST_F(OptionLists, ReferenceHasATable) {
  EXPECT_THAT(to_markdown(set),
              HasSubstr("\n## rules\n\nKeys apart. A list of at most 1000. Each rule may have:\n\n"
                        "| option | default | bounds | meaning |\n|---|---|---|---|\n"
                        "| `match` | `''` | any text | Which keys. |\n"
                        "| `window` | `inherit` | `100ms .. 1h \\| inherit` | Length. |\n"));
}

}  // namespace
}  // namespace heatsink
