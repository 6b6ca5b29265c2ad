// SPDX-License-Identifier: Apache-2.0
// How the pictures of top are put together: words and values in a row, lines on a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top/view.h"
#include "heatsink/tui/screen.h"
#include "heatsink/tui/table.h"

namespace heatsink::app {

inline constexpr tui::Style kPlain{};
inline constexpr tui::Style kBold{.bold = true};
inline constexpr tui::Style kDim{.dim = true};
inline constexpr tui::Style kGood{.color = tui::Color::kGreen, .bold = true};
inline constexpr tui::Style kBad{.color = tui::Color::kRed, .bold = true};
inline constexpr tui::Style kTitles{.bold = true, .reverse = true};

// Words and their values in a row, three spaces apart. What does not fit whole is left out: the
// tail of a number would read as another number.
class Row {
 public:
  Row(tui::Screen& screen, int row) : screen_(screen), row_(row) {}
  Row& add(std::string_view label, std::string_view value, tui::Style style = kBold);

 private:
  tui::Screen& screen_;
  int row_;
  int column_ = 0;
};

// Breaks at spaces into lines of at most `width` columns; a word that is longer stands alone.
std::vector<std::string> wrapped(std::string_view text, int width);

// A page as long as it needs to be, written from the top, and then a screen. At most
// tui::Screen::kSideMax lines are kept.
class Sheet {
 public:
  explicit Sheet(int width) : width_(width) {}

  int width() const { return width_; }
  void skip() { lines_.emplace_back(); }
  // Wrapped; all lines but the first begin below the first's text.
  void add(std::string_view label, std::string_view text, tui::Style style = kPlain);
  // As it is, below the texts: to be pasted, so a line that is too long for a screen is cut there.
  void add_line(std::string_view line, tui::Style style = kPlain);
  // All of it, as text, with no line cut.
  std::string text() const;
  // Returns a screen with the lines, and room for `more` rows below them.
  tui::Screen screen(int more = 0) const;
  int lines() const { return static_cast<int>(lines_.size()); }

 private:
  struct Line {
    std::string label;
    std::string text;
    tui::Style style;
  };
  int width_;
  std::vector<Line> lines_;
};

// Where the labels of a sheet end and its texts begin.
inline constexpr int kLabelColumns = 10;

// How a key's verdict is told: "hot", "cached", "hot: value too large", and its colour.
std::string state_of(const KeyView& key);
tui::Style style_of(const KeyView& key);
// As it is shown: a name of no bytes would be no name.
std::string shown_name(const KeyView& key);
// Half of the interval of the rate, or more where the estimate is not in its middle.
double error_of(const KeyView& key);
// Bytes say so; everything else is a number of accesses.
std::string amount_text(const KeyView& key, double amount);
// "GET 99.0 %, SET 1.0 %": parts of those of `all` accesses that were looked at for this. For some
// seconds, before a key was busy, nobody did.
std::string tallies_text(const std::vector<TallyView>& tallies, double all);
// How many of `all` accesses the tallies are of.
double looked_at(const std::vector<TallyView>& tallies, double all);
// Accesses of the key within its window, to compare tallies with.
double accesses_in_window(const KeyView& key);

}  // namespace heatsink::app
