// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/text.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace heatsink::tui {
namespace {

using namespace std::string_view_literals;

TEST(Text, DecodesOnlyWhatRfc3629Allows) {
  EXPECT_EQ(decode_utf8("é").value, 0xE9u);
  EXPECT_EQ(decode_utf8("€x").bytes, 3u);
  EXPECT_EQ(decode_utf8("\xF4\x8F\xBF\xBF").value, 0x10FFFFu);
  for (const std::string_view bad :
       {"\x80"sv, "\xC0\xAF"sv, "\xC3"sv, "\xE0\x80\x80"sv, "\xED\xA0\x80"sv, "\xF4\x90\x80\x80"sv,
        "\xF0\x80\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv, "\xE2\x82("sv}) {
    EXPECT_FALSE(decode_utf8(bad).valid) << safe_text(bad);
    EXPECT_EQ(decode_utf8(bad).bytes, 1u);
  }
}

TEST(Text, ControlsAndBrokenBytesAreEscaped) {
  EXPECT_EQ(safe_text("user:1"), "user:1");
  EXPECT_EQ(safe_text("a\x1b[2Jb\0c\x7f"sv), "a\\x1b[2Jb\\x00c\\x7f");
  EXPECT_EQ(safe_text("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(safe_text("\xC2\x9B"), "\\xc2\\x9b");  // U+009B is CSI to some terminals
  EXPECT_EQ(safe_text("größe:日本"), "größe:日本");
}

TEST(Text, TextThatReordersItsSurroundingsIsEscaped) {
  EXPECT_EQ(safe_text("a\u202Eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(safe_text("a\u200Bb"), "a\\xe2\\x80\\x8bb");
}

TEST(Text, SafeTwiceIsSafeOnce) {
  const std::string once = safe_text("\x01\\x02\xC3");
  EXPECT_EQ(safe_text(once), once);
}

TEST(Text, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("größe"), 5);
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("\x01"), 4);
}

TEST(Text, FitPadsAndCuts) {
  EXPECT_EQ(fit("ab", 4), "ab  ");
  EXPECT_EQ(fit("ab", 4, Align::kRight), "  ab");
  EXPECT_EQ(fit("abcd", 4), "abcd");
  EXPECT_EQ(fit("abcde", 4), "abc…");
  EXPECT_EQ(fit("abcde", 1), "…");
  EXPECT_EQ(fit("abcde", 0), "");
}

TEST(Text, FitNeverSplitsAWideGlyph) {
  EXPECT_EQ(fit("日本語", 4), "日… ");
  EXPECT_EQ(fit("日本語", 5), "日本…");
  EXPECT_EQ(display_width(fit("日本語", 4)), 4);
}

std::optional<int> with(const char* text) {
  setenv("COLUMNS", text, 1);  // NOLINT(concurrency-mt-unsafe)
  const std::optional<int> out = columns_of_environment();
  unsetenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
  return out;
}

TEST(Columns, OfTheEnvironmentAreWithinLimits) {
  EXPECT_EQ(with("132"), 132);
  EXPECT_EQ(with("1"), kColumnsMin);
  EXPECT_EQ(with("99999"), kColumnsMax);
  EXPECT_EQ(with("99999999999999999999"), std::nullopt);
  EXPECT_EQ(with("wide"), std::nullopt);
  EXPECT_EQ(with(""), std::nullopt);
  EXPECT_EQ(columns_of_environment(), std::nullopt);
}

}  // namespace

}  // namespace heatsink::tui
