// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heatsink/tui/number.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {

// Accesses not assigned to any tally were not looked at. A list with room names all that occurred:
// what its lower bounds leave of the sample is the width of the bounds, and nobody else. Only if
// most is left, the source had no more names for others (clients, after its first thousands).
double looked_at(const std::vector<TallyView>& tallies, double all) {
  double certain = 0, doubt = all;
  for (const TallyView& tally : tallies) {
    certain += tally.count;
    doubt = std::min(doubt, tally.doubt);
  }
  const double seen = all - doubt;
  const bool names_all = tallies.size() < detect::kTalliesMax && certain >= seen / 2;
  return names_all ? certain : std::max(certain, seen);
}

Row& Row::add(std::string_view label, std::string_view value, tui::Style style) {
  const int gap = column_ == 0 ? 0 : 3;
  const int between = label.empty() || value.empty() ? 0 : 1;
  const int width = gap + tui::display_width(label) + between + tui::display_width(value);
  if (column_ > 0 && column_ + width > screen_.size().width) return *this;
  const int after_label = screen_.put(column_ + gap, row_, label);
  column_ = screen_.put(after_label + between, row_, value, style);
  return *this;
}

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!line.empty() && tui::display_width(line) + 1 + tui::display_width(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    line.append(line.empty() ? "" : " ").append(word);
  }
  lines.push_back(line);
  return lines;
}

void Sheet::add(std::string_view label, std::string_view text, tui::Style style) {
  const std::string safe = tui::safe_text(text);
  for (std::string& line : wrapped(safe, std::max(width_ - kLabelColumns, 1))) {
    lines_.push_back({std::string(label), std::move(line), style});
    label = "";
  }
}

void Sheet::add_line(std::string_view line, tui::Style style) {
  lines_.push_back({"", tui::safe_text(line), style});
}

std::string Sheet::text() const {
  std::string out;
  for (const Line& line : lines_) {
    if (!line.text.empty()) out += fmt::format("{:<{}}{}", line.label, kLabelColumns, line.text);
    out += '\n';
  }
  return out;
}

tui::Screen Sheet::screen(int more) const {
  tui::Screen out({width_, std::max(lines() + more, 1)});
  for (int row = 0; row < std::min(lines(), out.size().height); ++row) {
    const Line& line = lines_[static_cast<std::size_t>(row)];
    out.put(0, row, line.label);
    out.put(kLabelColumns, row, line.text, line.style);
  }
  return out;
}

std::string state_words(const KeyView& key) {
  if (key.unproven) return "not proven";
  if (!key.cached) return key.verdict;
  // The usual level is not mentioned.
  const std::string cached =
      key.level == "key" || key.level.empty() ? "cached" : "cached (" + key.level + ")";
  return key.verdict == "hot" ? cached : key.verdict + ", " + cached;
}

std::string state_of(const KeyView& key) {
  const bool has_reason = !key.cached && key.verdict == "hot" && !key.cache_note.empty();
  return state_words(key) + (has_reason ? ": " + key.cache_note : "");
}

tui::Style style_of(const KeyView& key) {
  if (key.verdict == "write-hot") return {tui::Color::kMagenta, true};
  if (key.verdict.empty()) return {};  // a template without a listed key
  if (key.verdict != "hot") return {tui::Color::kYellow};
  return {key.cached ? tui::Color::kGreen : tui::Color::kRed, true};
}

std::string shown_name(const KeyView& key) { return key.name.empty() ? "\"\"" : key.name; }

double error_of(const KeyView& key) {
  if (std::isnan(key.rate_high)) return kUnknown;
  return std::max({key.rate - key.rate_low, key.rate_high - key.rate, 0.0});
}

std::string amount_text(const KeyView& key, double amount) {
  return tui::count_text(amount) + (key.dimension == "bytes" ? "B" : "");
}

std::string tallies_text(const std::vector<TallyView>& tallies, double all) {
  const double seen = looked_at(tallies, all);
  std::string out;
  for (const TallyView& tally : tallies) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", tally.name,
                       tui::percent_text(seen > 0 ? tally.count / seen : 0));
  }
  return out;
}

double accesses_in_window(const KeyView& key) {
  return (key.reads_rate + key.writes_rate) * std::chrono::duration<double>(key.window).count();
}

}  // namespace heatsink::app
