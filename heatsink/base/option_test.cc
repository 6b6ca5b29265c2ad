// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "heatsink/base/option_for_test.h"
#include "heatsink/base/option_print.h"

namespace heatsink {
namespace {

using ::testing::HasSubstr;

struct Sample : OneRowOfEachType {
  std::string error(std::string_view name, std::string_view text) {
    const std::string before = to_yaml(set);
    const Status status = set.set(name, text);
    EXPECT_EQ(to_yaml(set), before) << "a refused value must change nothing";
    return status.ok() ? "(accepted)" : status.error().message;
  }
};

TEST(Option, AnEnumerationHasItsWords) {
  enum class Speed : std::uint8_t { kSlow, kFast };
  Speed speed = Speed::kSlow;
  OptionSet set;
  set.add({.name = "speed",
           .target = choice_of(speed),
           .help = "How fast.",
           .choices = {"slow", "fast"}});
  EXPECT_TRUE(set.set("speed", "fast").ok());
  EXPECT_EQ(speed, Speed::kFast);
  EXPECT_EQ(set.set("speed", "warp").error().message,
            "speed is 'warp': write one of slow, fast (bounds slow | fast, default slow)");
  EXPECT_EQ(speed, Speed::kFast);
  EXPECT_THAT(to_yaml(set), HasSubstr("speed: fast\n"));
}

TEST(Option, NamesDeprecatedOptionsThatAreSet) {
  std::int64_t slots = 10;
  OptionSet set;
  set.add(deprecated("a window slides in ten steps.", {"slots", &slots, "Steps.", 1, 10}));
  EXPECT_TRUE(set.set("slots", "10").ok());
  EXPECT_TRUE(set.deprecated_in_use().empty()) << "the default";
  EXPECT_THAT(to_markdown(set), HasSubstr("Deprecated: a window slides in ten steps. Steps."));
  EXPECT_TRUE(set.set("slots", "5").ok());
  EXPECT_THAT(set.deprecated_in_use(),
              ::testing::ElementsAre("slots is deprecated, and a later version refuses it: "
                                     "a window slides in ten steps."));
}

TEST(Option, SetsEachTypeFromText) {
  Sample s;
  EXPECT_TRUE(s.set.set("workers", "8").ok());
  EXPECT_TRUE(s.set.set("detection.ratio", "0.25").ok());
  EXPECT_TRUE(s.set.set("cache.level", "ttl").ok());
  EXPECT_TRUE(s.set.set("listen", "").ok());
  EXPECT_TRUE(s.set.set("detection.window", "1500ms").ok());
  EXPECT_TRUE(s.set.set("cache.size", "1gb").ok());
  EXPECT_EQ(s.workers, 8);
  EXPECT_EQ(s.ratio, 0.25);
  EXPECT_EQ(s.level, "ttl");
  EXPECT_EQ(s.listen, "");
  EXPECT_EQ(s.window, Millis(1500));
  EXPECT_EQ(s.size, mebibytes(1024));
}

TEST(Option, BooleansHaveThreeSpellings) {
  Sample s;
  for (const char* no : {"false", "no", "off", "OFF"}) {
    s.enabled = true;
    EXPECT_TRUE(s.set.set("cache.enabled", no).ok());
    EXPECT_FALSE(s.enabled) << no;
  }
  for (const char* yes : {"true", "yes", "on", "True"}) {
    s.enabled = false;
    EXPECT_TRUE(s.set.set("cache.enabled", yes).ok());
    EXPECT_TRUE(s.enabled) << yes;
  }
  EXPECT_EQ(s.error("cache.enabled", "1"),
            "cache.enabled is '1': write true or false (bounds true | false, default true)");
}

TEST(Option, MalformedValueNamesOptionFixBoundsAndDefault) {
  Sample s;
  EXPECT_EQ(s.error("detection.window", "5"),
            "detection.window is '5': write a number and us, ms, s, m or h, as in 250ms "
            "(bounds 1s .. 1h, default 10s)");
  EXPECT_EQ(s.error("workers", "4.5"),
            "workers is '4.5': write a whole number (bounds 1 .. 256, default 2)");
  EXPECT_EQ(s.error("cache.size", "64 potatoes"),
            "cache.size is '64 potatoes': write a number and b, kb, mb or gb, as in 64mb "
            "(bounds 1kb .. 1gb, default 64mb)");
  for (const char* bad : {"", "nan", "inf", "1e999", "0.5x", "0,5"}) {
    EXPECT_THAT(s.error("detection.ratio", bad), HasSubstr("write a number, as in 0.5")) << bad;
  }
  EXPECT_THAT(s.error("workers", "99999999999999999999"), HasSubstr("write a whole number"));
}

TEST(Option, BoundsAreIncludedAndPastThemTheNearestIsTold) {
  Sample s;
  EXPECT_TRUE(s.set.set("workers", "256").ok());
  EXPECT_TRUE(s.set.set("workers", "1").ok());
  EXPECT_EQ(s.error("workers", "257"),
            "workers is '257': write 256 or less (bounds 1 .. 256, default 2)");
  EXPECT_EQ(s.error("workers", "0"),
            "workers is '0': write 1 or more (bounds 1 .. 256, default 2)");
  EXPECT_THAT(s.error("detection.window", "2h"), HasSubstr("write 1h or less"));
  EXPECT_THAT(s.error("cache.size", "1"), HasSubstr("write 1kb or more"));
  EXPECT_EQ(
      s.error("cache.level", "keyy"),
      "cache.level is 'keyy': write one of off, ttl, key (bounds off | ttl | key, default key)");
  EXPECT_EQ(s.set.set("workers", "0").error().code, ErrorCode::kOutOfRange);
  EXPECT_EQ(s.set.set("workers", "x").error().code, ErrorCode::kInvalidArgument);
}

TEST(Option, DefaultStaysWhatItWasWhenTheValueChanges) {
  Sample s;
  ASSERT_TRUE(s.set.set("workers", "8").ok());
  const OptionRow& row = *s.set.find("workers");
  EXPECT_EQ(s.set.value_text(row), "8");
  EXPECT_EQ(s.set.default_text(row), "2");
}

TEST(Option, UnknownNameGivesTheNearest) {
  Sample s;
  EXPECT_EQ(s.error("detection.windw", "5s"),
            "unknown option 'detection.windw': did you mean 'detection.window'?");
  EXPECT_EQ(s.error("frobnicate", "5s"),
            "unknown option 'frobnicate': 'heatsink config print' lists them all");
  EXPECT_EQ(s.set.set("nope", "").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(s.set.find("nope"), nullptr);
}

TEST(Option, DoublesAreWrittenForPeopleAndReadBackTheSame) {
  double rate = 1;
  OptionSet set;
  set.add({"rate", &rate, "A rate.", 0, 1e9, {}});
  EXPECT_EQ(set.bounds_text(*set.find("rate")), "0 .. 1000000000");
  for (const double value : {0.0, 0.1, 1.0 / 3, 1e-6, 1e-7, 2.5e-300, 123456789.125}) {
    rate = value;
    const std::string text = set.value_text(*set.find("rate"));
    rate = -1;
    ASSERT_TRUE(set.set("rate", text).ok()) << text;
    EXPECT_EQ(rate, value) << text;
  }
}

TEST(Option, TextFromOutsideIsBoundedAndEscaped) {
  Sample s;
  EXPECT_THAT(s.error("workers", "\x1b[2J"), HasSubstr("workers is '\\x1b[2J'"));
  EXPECT_THAT(s.error("listen", "a\nb"), HasSubstr("without control characters"));
  EXPECT_LT(s.error("listen", std::string(100'000, 'a')).size(), 300u);
  EXPECT_LT(s.error(std::string(100'000, 'a'), "1").size(), 300u);
}

TEST(Option, AssignmentSplitsAtTheFirstEquals) {
  Sample s;
  EXPECT_TRUE(s.set.set_assignment("listen=a=b").ok());
  EXPECT_EQ(s.listen, "a=b");
  EXPECT_THAT(s.set.set_assignment("workers").error().message, HasSubstr("write option=value"));
}

TEST(OptionDeathTest, RowsMustMakeSense) {
#ifndef NDEBUG
  Sample s;
  std::int64_t out_of_bounds = 5;
  EXPECT_DEATH(s.set.add({"workers", &s.workers, "Twice.", 1, 256, {}}),
               HasSubstr("find(row.name) == nullptr"));
  EXPECT_DEATH(s.set.add({"other", &out_of_bounds, "Past its bounds.", 0, 1, {}}),
               HasSubstr("option_within_bounds(row)"));
#else
  GTEST_SKIP() << "asserts are compiled out";
#endif
}

// The word for "no value" is the row's own.
TEST(Option, AnUnsetNumberHasTheRowsWord) {
  std::optional<double> rate, inherited;
  OptionSet set;
  set.add({.name = "rate", .target = &rate, .help = "Rate.", .min = 1, .max = 9, .unset = kAuto});
  set.add({.name = "other", .target = &inherited, .help = "Other.", .min = 1, .max = 9});
  EXPECT_EQ(set.value_text(*set.find("rate")), "auto");
  EXPECT_EQ(set.value_text(*set.find("other")), "inherit");
  EXPECT_EQ(set.bounds_text(*set.find("rate")), "1 .. 9 | auto");
  ASSERT_TRUE(set.set("rate", "5").ok());
  EXPECT_EQ(rate, 5);
  EXPECT_THAT(set.set("rate", "inherit").error().message,
              HasSubstr("write a number, as in 0.5, or auto (bounds 1 .. 9 | auto, default auto)"));
  EXPECT_EQ(rate, 5);
  ASSERT_TRUE(set.set("rate", "auto").ok());
  EXPECT_EQ(rate, std::nullopt);
}

}  // namespace
}  // namespace heatsink
