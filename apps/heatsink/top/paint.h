// SPDX-License-Identifier: Apache-2.0
// Builds the pictures of top: words and values in a row, lines on a page.
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

// Words and values in a row, three spaces apart. Items that do not fit completely are left out: the
// end of a number would look like another number.
class Row {
 public:
  Row(tui::Screen& screen, int row) : screen_(screen), row_(row) {}
  Row& add(std::string_view label, std::string_view value, tui::Style style = kBold);

 private:
  tui::Screen& screen_;
  int row_;
  int column_ = 0;
};

// Wraps at spaces into lines of at most `width` columns; a longer word has its own line.
std::vector<std::string> wrapped(std::string_view text, int width);

// A page written from the top, as long as necessary, which then becomes a screen. Keeps at most
// tui::Screen::kSideMax lines.
class Sheet {
 public:
  explicit Sheet(int width) : width_(width) {}

  int width() const { return width_; }
  void skip() { lines_.emplace_back(); }
  // Wraps the text; further lines are indented below its beginning.
  void add(std::string_view label, std::string_view text, tui::Style style = kPlain);
  // Adds a line unchanged, to be pasted; the screen cuts a line that is too long.
  void add_line(std::string_view line, tui::Style style = kPlain);
  // All lines as text, uncut.
  std::string text() const;
  // A screen with the lines, and `more` empty rows below them.
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

// The column where texts begin, after the labels.
inline constexpr int kLabelColumns = 10;

// The words for a key's verdict, with their colour: "hot", "cached", "hot: value too large".
std::string state_of(const KeyView& key);
std::string state_words(const KeyView& key);  // without the reason why there is no copy
tui::Style style_of(const KeyView& key);
// For display; a name of no bytes gets a placeholder.
std::string shown_name(const KeyView& key);
// Half of the rate's interval; more if the estimate is not in its middle.
double error_of(const KeyView& key);
// With the unit for bytes; all others are numbers of accesses.
std::string amount_text(const KeyView& key, double amount);
// "GET 99.0 %, SET 1.0 %": parts of those of `all` accesses that were looked at, 100 % together
// unless more occurred than are listed. Accesses in the seconds before the key was busy were not
// looked at.
std::string tallies_text(const std::vector<TallyView>& tallies, double all);
// The number of `all` accesses that the tallies cover.
double looked_at(const std::vector<TallyView>& tallies, double all);
// The key's accesses in its window, for comparison with tallies.
double accesses_in_window(const KeyView& key);

}  // namespace heatsink::app
