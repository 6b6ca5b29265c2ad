// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/printable.h"

#include <gtest/gtest.h>

namespace heatsink {
namespace {

using namespace std::string_view_literals;

TEST(Printable, PlainTextAndUtf8StayAsTheyAre) {
  EXPECT_EQ(printable("user:1000"), "user:1000");
  EXPECT_EQ(printable("größe:日本:🔥"), "größe:日本:🔥");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ControlCharactersAreEscapedAsRedisCliDoes) {
  EXPECT_EQ(printable("user:\0"sv), "user:\\x00");
  EXPECT_EQ(printable("a\nb\r\t\a\b"), "a\\nb\\r\\t\\a\\b");
  EXPECT_EQ(printable("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(printable("say \"hi\" c:\\"), "say \\\"hi\\\" c:\\\\");
}

TEST(Printable, BrokenUtf8IsEscapedByteByByte) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past U+10FFFF";
  EXPECT_EQ(printable("\xe6\x97"), "\\xe6\\x97") << "cut short";
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
}

TEST(Printable, WhatMovesTheCursorOrTheLineIsEscaped) {
  EXPECT_EQ(printable("\u009b2J"), "\\xc2\\x9b2J") << "C1: terminals take it for ESC [";
  EXPECT_EQ(printable("a\u202eb"), "a\\xe2\\x80\\xaeb") << "right-to-left override";
  EXPECT_EQ(printable("a\u2028b"), "a\\xe2\\x80\\xa8b") << "line separator";
}

TEST(Printable, LongOnesAreCutAtACharacterAndSaySo) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 4), "abcd... (+2 bytes)");
  EXPECT_EQ(printable("日本", 4), "日... (+3 bytes)");
  EXPECT_LT(printable(std::string(1 << 20, '\0')).size(), 4 * kPrintableBytesMax + 32);
}

TEST(Printable, SentencesKeepBackslashesAndQuotes) {
  EXPECT_EQ(one_line("key \"a\\x00\"\nend", 100), "key \"a\\x00\"\\nend");
}

TEST(Printable, ReadsBackEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(from_printable(printable(bytes)), bytes);
  EXPECT_EQ(from_printable("größe:\\x00\\xFf"), "größe:\0\xff"sv);
}

TEST(Printable, WhatIsNoEscapeStandsForItself) {
  for (const std::string_view plain : {"a\\", "\\x", "\\x0", "\\xg0", "\\q", "user:*"})
    EXPECT_EQ(from_printable(plain), plain);
}

}  // namespace
}  // namespace heatsink
