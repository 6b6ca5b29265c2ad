// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/screen.h"

#include <gtest/gtest.h>

namespace heatsink::tui {
namespace {

TEST(Screen, HoldsThePictureAsText) {
  Screen screen({12, 3});
  EXPECT_EQ(screen.put(1, 0, "top"), 4);
  screen.put(0, 2, "größe 日本");
  EXPECT_EQ(screen.text(),
            " top\n"
            "\n"
            "größe 日本\n");
}

TEST(Screen, ClipsAtEveryEdge) {
  Screen screen({4, 2});
  screen.put(2, 0, "abcdef");
  screen.put(-2, 1, "xyz");
  screen.put(0, 2, "below");
  screen.put(0, -1, "above");
  screen.put(9, 0, "right");
  EXPECT_EQ(screen.text(), "  ab\nz\n");
}

TEST(Screen, AWideGlyphIsWholeOrAbsent) {
  Screen screen({3, 1});
  screen.put(0, 0, "日本");
  EXPECT_EQ(screen.text(), "日\n");
  screen.put(1, 0, "x");
  EXPECT_EQ(screen.text(), " x\n");
  screen.put(1, 0, "本");
  screen.put(1, 0, "y");
  EXPECT_EQ(screen.text(), " y\n");
}

TEST(Screen, OverwritingTheLeftHalfOfAWideGlyphKeepsTheColumns) {
  Screen screen({4, 1});
  screen.put(0, 0, "日x");
  screen.put(0, 0, "y");
  EXPECT_EQ(screen.text(), "y x\n");
}

TEST(Screen, NoControlByteReachesACell) {
  Screen screen({10, 1});
  screen.put(0, 0, "\x1b[2J");
  EXPECT_EQ(screen.text(), "\\x1b[2J\n");
}

TEST(Screen, CombiningMarksJoinTheirBaseAndAreBounded) {
  Screen screen({4, 1});
  std::string stacked = "e";
  for (int i = 0; i < 100; ++i) stacked += "\u0301";
  screen.put(0, 0, stacked + "x");
  EXPECT_EQ(screen.at(1, 0).glyph, "x");
  EXPECT_LE(screen.at(0, 0).glyph.size(), 16u);
  screen.put(0, 0, "\u0301");  // nothing to join at the left edge
}

TEST(Screen, KeepsStylesAndPaintsRows) {
  Screen screen({4, 2});
  screen.put(0, 0, "ab", {Color::kRed, true});
  EXPECT_EQ(screen.at(1, 0).style, (Style{Color::kRed, true}));
  EXPECT_EQ(screen.at(2, 0).style, Style{});
  screen.paint_row(0, {.reverse = true});
  EXPECT_EQ(screen.at(3, 0).style, Style{.reverse = true});
  EXPECT_EQ(screen.at(0, 0).glyph, "a");
}

TEST(Screen, SidesAreBounded) {
  EXPECT_EQ(Screen({0, -5}).size(), (Size{1, 1}));
  EXPECT_EQ(Screen({1 << 30, 2}).size(), (Size{Screen::kSideMax, 2}));
}

}  // namespace
}  // namespace heatsink::tui
