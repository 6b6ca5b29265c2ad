// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/table.h"

#include <gtest/gtest.h>

namespace heatsink::tui {
namespace {

Table sample() {
  Table table({{"#"},
               {"KEY", Align::kLeft, 6},
               {"RATE"},
               {"SHARE", Align::kRight, 0, 1},
               {"WHY", Align::kLeft, 5, 2}});
  table.add({{"1", {}},
             {"user:1234:name", {Color::kRed}},
             {"1.2k", {}},
             {"34 %", {}},
             {"it is very hot", {}}});
  table.add({{"2", {}}, {"k\x01", {}}, {"950", {}}, {"2 %", {}}, {"", {}}});
  return table;
}

std::string picture(int width, int height = 3) {
  Screen screen({width, height});
  sample().draw(screen, {0, 0, {width, height}}, {.bold = true});
  return screen.text();
}

TEST(Table, WideShowsEverything) {
  EXPECT_EQ(picture(60),
            "# KEY            RATE SHARE WHY\n"
            "1 user:1234:name 1.2k  34 % it is very hot\n"
            "2 k\\x01           950   2 %\n");
}

TEST(Table, ElasticColumnsGiveWayFirst) {
  EXPECT_EQ(picture(28),
            "# KEY       RATE SHARE WHY\n"
            "1 user:123… 1.2k  34 % it i…\n"
            "2 k\\x01      950   2 %\n");
}

TEST(Table, ThenTheLeastImportantColumnGoes) {
  EXPECT_EQ(picture(22),
            "# KEY       RATE SHARE\n"
            "1 user:123… 1.2k  34 %\n"
            "2 k\\x01      950   2 %\n");
  EXPECT_EQ(picture(13),
            "# KEY    RATE\n"
            "1 user:… 1.2k\n"
            "2 k\\x01   950\n");
}

// In 33 columns SINCE would fit beside a cut STATE.
TEST(Table, AColumnIsNotCutForOneThatIsWorthLess) {
  const auto drawn = [](int width) {
    Table table({{"KEY", Align::kLeft, 4},
                 {"TREND", Align::kRight, 0, 1},
                 {"STATE", Align::kLeft, 4, 0, 2},
                 {"SINCE", Align::kRight, 0, 3}});
    table.add({{"product", {}}, {"..::!", {}}, {"write-hot, cached", {}}, {"3m", {}}});
    Screen screen({width, 2});
    table.draw(screen, {0, 0, {width, 2}}, {});
    return screen.text();
  };
  EXPECT_EQ(drawn(37),
            "KEY     TREND STATE             SINCE\n"
            "product ..::! write-hot, cached    3m\n");
  EXPECT_EQ(drawn(33),
            "KEY     TREND STATE\n"
            "product ..::! write-hot, cached\n");
  EXPECT_EQ(drawn(29),
            "KEY   TREND STATE\n"
            "prod… ..::! write-hot, cached\n");
  EXPECT_EQ(drawn(20),
            "KEY     TREND STATE\n"
            "product ..::! write…\n");
}

TEST(Table, TooNarrowOrTooLowIsClipped) {
  EXPECT_EQ(picture(5),
            "# KEY\n"
            "1 us…\n"
            "2 k\\…\n");
  EXPECT_EQ(picture(13, 2),
            "# KEY    RATE\n"
            "1 user:… 1.2k\n");
  Screen screen({10, 1});
  EXPECT_EQ(sample().draw(screen, {0, 0, {10, 0}}, {}), 0u);
}

TEST(Table, StylesFollowTheirCells) {
  Screen screen({60, 3});
  EXPECT_EQ(sample().draw(screen, {0, 0, {60, 3}}, {.bold = true}), 2u);
  EXPECT_EQ(screen.at(2, 0).style, Style{.bold = true});
  EXPECT_EQ(screen.at(2, 1).style, Style{Color::kRed});
  EXPECT_EQ(screen.at(2, 2).style, Style{});
}

}  // namespace
}  // namespace heatsink::tui
